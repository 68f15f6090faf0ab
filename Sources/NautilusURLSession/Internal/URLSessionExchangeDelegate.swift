import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of the transport's session, and the only place where its tasks are started, are cancelled and report.
///
/// Tasks are started and cancelled on one serial queue. On Linux that is necessary: both operations block, and deadlock
/// if they meet. On the queue they cannot meet, and no thread of Swift's pool waits. On Linux, reports come on a queue
/// of Foundation's, see ``DelegateQueue``, and never wait for anything.
final class URLSessionExchangeDelegate: NSObject, Sendable {
    /// An exchange that lacks only a connection.
    private struct Waiter: Identifiable, Sendable {
        let exchange: URLSessionExchange
        let request: OutgoingRequest
        let session: URLSession

        var id: ObjectIdentifier { ObjectIdentifier(exchange) }
    }

    private struct Traffic {
        /// How many exchanges have a connection, but no task yet.
        var starting = 0
        var underway: [Int: URLSessionExchange] = [:]
        var queues: ConnectionQueues<HttpOrigin, Waiter>

        /// Adds an exchange; returns whether it has a connection, and whether it is the only exchange with one.
        mutating func enter(_ waiter: Waiter) -> (isConnected: Bool, isAlone: Bool) {
            // Without a host, the exchange needs no connection to fail.
            let origin = waiter.exchange.origin
            let isConnected = origin.map { queues.enter($0, waiter, priority: waiter.request.priority) } ?? true
            defer { if isConnected { starting += 1 } }
            return (isConnected, isConnected && starting == 0 && underway.isEmpty)
        }

        /// Gives a connection to the next in the queue, which starts; returns nil if the queue is empty.
        mutating func leave(_ origin: HttpOrigin) -> Waiter? {
            while let next = queues.leave(origin) {
                // The caller has gone, but the exchange was still in the queue.
                if next.exchange.isAnswered { continue }
                starting += 1
                return next
            }
            return nil
        }
    }

    let queue = DispatchQueue(label: "Nautilus.URLSessionTransport", qos: .userInitiated)
    let operations: OperationQueue
    private let traffic: Locked<Traffic>
    /// The pinned keys; nil if any key will do.
    private let pinnedKeys: PinnedKeys?

    init(connectionsPerHost: Int, pinnedKeys: [Data] = []) {
        self.pinnedKeys = pinnedKeys.isEmpty ? nil : PinnedKeys(hashes: pinnedKeys)
        #if canImport(FoundationNetworking)
            traffic = Locked(Traffic(queues: ConnectionQueues(limit: connectionsPerHost)))
        #else
            // Here Foundation has a queue for each host, and HTTP/2 carries many exchanges on one connection.
            traffic = Locked(Traffic(queues: ConnectionQueues(limit: .max)))
        #endif
        operations = DelegateQueue(queue)
        super.init()
    }

    /// Starts the task that carries `exchange` when there is a connection for it, unless its caller has gone.
    ///
    /// If nothing else is under way, the task has started before this returns, which saves waiting for a thread to run
    /// the queue. Otherwise starting may have to wait for the session, which the caller's thread must not do.
    func accept(_ exchange: URLSessionExchange, _ request: OutgoingRequest, in session: URLSession) {
        let waiter = Waiter(exchange: exchange, request: request, session: session)
        // Must come before anything can end the exchange.
        exchange.context.beginWaitingForConnection()
        let (isConnected, isAlone) = traffic.withLock { $0.enter(waiter) }
        guard isConnected else {
            // A cancellation in the meantime would not have found the exchange in the queue.
            if exchange.isAnswered { forget(exchange) }
            return
        }
        exchange.context.endWaitingForConnection()
        if isAlone {
            queue.sync { start(waiter) }
        } else {
            queue.async { self.start(waiter) }
        }
    }

    private func start(_ waiter: Waiter) {
        let exchange = waiter.exchange
        if let end = exchange.request.refusal { exchange.resolve(.failure(end)) }
        guard !exchange.isAnswered else {
            // The caller has gone or the user has signed out meanwhile, so the next in the queue gets the connection.
            traffic.withLock { $0.starting -= 1 }
            return release(exchange.origin)
        }
        let task = waiter.request.task(in: waiter.session)
        exchange.begin(task)
        traffic.withLock { traffic in
            traffic.starting -= 1
            traffic.underway[task.taskIdentifier] = exchange
        }
        task.resume()
    }

    /// Cancels the task of an exchange whose caller has gone; an exchange without a task only leaves its queue. Does
    /// nothing if the exchange is over. Called on the queue.
    func abandon(_ exchange: URLSessionExchange) {
        guard let task = exchange.task else { return forget(exchange) }
        guard exchangeUnderWay(task) != nil else { return }
        task.cancel()
        _ = end(task)
    }

    private func forget(_ exchange: URLSessionExchange) {
        guard let origin = exchange.origin else { return }
        traffic.withLock { $0.queues.forget(origin, ObjectIdentifier(exchange)) }
    }

    func exchangeUnderWay(_ task: URLSessionTask) -> URLSessionExchange? {
        traffic.withLock { $0.underway[task.taskIdentifier] }
    }

    /// Removes and returns the exchange of an ended task, and gives its connection to the next in the queue; nil if
    /// it had ended before.
    private func end(_ task: URLSessionTask) -> URLSessionExchange? {
        let ended = traffic.withLock { $0.underway.removeValue(forKey: task.taskIdentifier) }
        guard let exchange = ended else { return nil }
        release(exchange.origin)
        return exchange
    }

    /// Gives a connection to the next in the queue.
    private func release(_ origin: HttpOrigin?) {
        guard let origin, let next = traffic.withLock({ $0.leave(origin) }) else { return }
        next.exchange.context.endWaitingForConnection()
        queue.async { self.start(next) }
    }

    /// How many exchanges are under way, for tests that check that none is left behind.
    var count: Int {
        get async {
            await withCheckedContinuation { continuation in
                queue.async {
                    let count = self.traffic.withLock { $0.underway.count }
                    continuation.resume(returning: count)
                }
            }
        }
    }
}

extension URLSessionExchangeDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // Linux ignores the disposition, so an exchange that ends here cancels its task.
        completionHandler(.allow)
        guard let exchange = exchangeUnderWay(dataTask), let response = response as? HTTPURLResponse else {
            return
        }
        let method = dataTask.originalRequest?.httpMethod
        if let error = exchange.receive(response, to: method) { refuseBody(of: exchange, error) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchangeUnderWay(dataTask) else { return }
        guard exchange.receive(data) else { return refuseBody(of: exchange, exchange.tooLarge) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = end(task) else { return }
        if let error {
            exchange.fail(TransportError(error))
        } else {
            exchange.complete(fallback: task.response as? HTTPURLResponse)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData count: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let exchange = exchangeUnderWay(task) else { return }
        exchange.context.noteBodyPart()
        exchange.sent(totalBytesSent)
    }

    /// Refuses every redirect, so that the redirect itself is the response.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        queue.async { completionHandler(nil) }
    }

    /// Answers no challenge except the one for the server's certificate, which the system judges.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // The whole 401 has arrived by now, but on Linux the task would wait for a credential forever.
            let exchange = end(task)
            exchange?.complete(fallback: challenge.failureResponse as? HTTPURLResponse)
            queue.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        #else
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let pinnedKeys, !pinnedKeys.contain(keyOf: challenge) else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                end(task)?.fail(TransportError(.serverCertificateUntrusted, delivery: .notSent))
                completionHandler(.cancelAuthenticationChallenge, nil)
            case NSURLAuthenticationMethodClientCertificate:
                completionHandler(.performDefaultHandling, nil)
            default:
                completionHandler(.rejectProtectionSpace, nil)
            }
        #endif
    }

    private func refuseBody(of exchange: URLSessionExchange, _ error: TransportError) {
        exchange.fail(error)
        queue.async { self.abandon(exchange) }
    }
}

/// A session of Foundation's with its delegate, which releases the session properly.
final class URLSessionOwner: Sendable {
    let session: URLSession
    let exchanges: URLSessionExchangeDelegate

    init(_ configuration: URLSessionTransport.Configuration) {
        exchanges = URLSessionExchangeDelegate(
            connectionsPerHost: configuration.connectionsPerHost,
            pinnedKeys: configuration.pinnedKeys
        )
        session = URLSession(
            configuration: configuration.sessionConfiguration(),
            delegate: exchanges,
            delegateQueue: exchanges.operations
        )
    }

    deinit {
        // A session keeps its delegate and its connections until it is invalidated. This happens on the queue, since a
        // cancelled exchange may still be waiting there, and would trap on an invalidated session.
        exchanges.queue.async { [session] in session.finishTasksAndInvalidate() }
    }
}

/// The session's delegate queue.
///
/// On Linux it runs every callback immediately, on the session's own queue, which calls them one after the other. As
/// operations, or on another queue, each of an exchange's three callbacks would wake a thread, and together they would
/// cost as much as sending the request. On Apple's platforms it is an ordinary queue on top of `serial`.
///
/// So a callback must do nothing that waits for the session, such as starting or cancelling a task.
final class DelegateQueue: OperationQueue, @unchecked Sendable {  // Unchecked: as its superclass is; it adds nothing.
    init(_ serial: DispatchQueue) {
        super.init()
        underlyingQueue = serial
        maxConcurrentOperationCount = 1
    }

    #if canImport(FoundationNetworking)
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    #endif
}
