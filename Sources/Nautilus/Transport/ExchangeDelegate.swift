import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of the transport's session, and the one place where its tasks start, are cancelled and report.
///
/// All of it happens on one serial queue. On Linux that is no matter of taste: starting and cancelling a task block,
/// and deadlock when they meet; on the queue they cannot, and it is not a thread of Swift's pool that waits.
final class ExchangeDelegate: NSObject, @unchecked Sendable {
    // Unchecked: `underway` and `lines` are only touched on `queue`.

    /// An exchange that has everything but a connection.
    private struct Waiter {
        let exchange: Exchange
        let request: URLRequest
        let priority: RequestPriority
        let session: URLSession
    }

    let queue = DispatchQueue(label: "Nautilus.URLSessionTransport", qos: .userInitiated)
    let operations: OperationQueue
    private var underway: [Int: Exchange] = [:]
    private var lines: ConnectionLines<Waiter>

    init(connectionsPerHost: Int) {
        #if canImport(FoundationNetworking)
            lines = ConnectionLines(limit: connectionsPerHost)
        #else
            // Foundation has a line for each host here, and HTTP/2 carries many exchanges on one connection.
            lines = ConnectionLines(limit: .max)
        #endif
        operations = DelegateQueue(queue)
        super.init()
    }

    /// Starts the task that carries `exchange` once there is a connection for it, unless its caller has gone.
    func begin(_ exchange: Exchange, _ request: URLRequest, priority: RequestPriority, in session: URLSession) {
        guard !exchange.isAnswered else { return }
        let waiter = Waiter(exchange: exchange, request: request, priority: priority, session: session)
        guard exchange.origin.map({ lines.enter($0, waiter, priority: priority) }) ?? true else {
            return exchange.context.beginWaitingForConnection()
        }
        start(waiter)
    }

    private func start(_ waiter: Waiter) {
        let (exchange, task) = (waiter.exchange, waiter.session.dataTask(with: waiter.request))
        switch waiter.priority {
        case .low: task.priority = URLSessionTask.lowPriority
        case .normal: break
        case .high: task.priority = URLSessionTask.highPriority
        }
        exchange.begin(task)
        underway[task.taskIdentifier] = exchange
        task.resume()
    }

    /// Cancels the task of an exchange whose caller has gone; nothing when it has not begun or is over.
    func abandon(_ exchange: Exchange) {
        guard let task = exchange.task else {
            if let origin = exchange.origin { lines.forget(origin) { $0.exchange === exchange } }
            return
        }
        guard underway[task.taskIdentifier] != nil else { return }
        task.cancel()
        _ = end(task)
    }

    /// The exchange of a task that is over, whose connection goes to the next in line; nil when it has ended before.
    private func end(_ task: URLSessionTask) -> Exchange? {
        guard let exchange = underway.removeValue(forKey: task.taskIdentifier) else { return nil }
        while let origin = exchange.origin, let next = lines.leave(origin) {
            // Its caller has gone, and has not been taken out of the line yet.
            if next.exchange.isAnswered { continue }
            next.exchange.context.endWaitingForConnection()
            start(next)
            break
        }
        return exchange
    }

    /// How many exchanges are under way; for the tests, which see to it that none is left behind.
    var count: Int {
        get async {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.underway.count) }
            }
        }
    }
}

extension ExchangeDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // The disposition is ignored on Linux, so an exchange that ends here cancels its task.
        completionHandler(.allow)
        guard let exchange = underway[dataTask.taskIdentifier], let response = response as? HTTPURLResponse else {
            return
        }
        guard exchange.receive(response) else { return refuseBody(of: exchange) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = underway[dataTask.taskIdentifier] else { return }
        guard exchange.receive(data) else { return refuseBody(of: exchange) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = end(task) else { return }
        if let error { return exchange.resolve(.failure(TransportError(error))) }
        exchange.complete(fallback: task.response as? HTTPURLResponse)
    }

    /// Refuses every redirect, so that it comes back as the response that it is.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Answers no challenge but the server's certificate, which the system judges.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // The whole 401 has come by now, but on Linux the task would wait for a credential forever.
            let exchange = end(task)
            exchange?.complete(fallback: challenge.failureResponse as? HTTPURLResponse)
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate:
                completionHandler(.performDefaultHandling, nil)
            default:
                completionHandler(.rejectProtectionSpace, nil)
            }
        #endif
    }

    private func refuseBody(of exchange: Exchange) {
        exchange.refuseBody()
        abandon(exchange)
    }
}
