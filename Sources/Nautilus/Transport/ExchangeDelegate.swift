import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of the transport's session, and the one place where its tasks start, are cancelled and report.
///
/// All of it happens on one serial queue. On Linux that is no matter of taste: starting and cancelling a task block,
/// and deadlock when they meet; on the queue they cannot, and it is not a thread of Swift's pool that waits.
final class ExchangeDelegate: NSObject, @unchecked Sendable {
    // Unchecked: `underway` is only touched on `queue`.

    let queue = DispatchQueue(label: "Nautilus.URLSessionTransport", qos: .userInitiated)
    let operations = OperationQueue()
    private var underway: [Int: Exchange] = [:]

    override init() {
        super.init()
        operations.underlyingQueue = queue
        operations.maxConcurrentOperationCount = 1
    }

    /// Starts the task that carries `exchange`, unless its caller has gone.
    func begin(_ exchange: Exchange, _ request: URLRequest, priority: RequestPriority, in session: URLSession) {
        guard !exchange.isAnswered else { return }
        let task = session.dataTask(with: request)
        switch priority {
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
        guard let task = exchange.task, let exchange = underway.removeValue(forKey: task.taskIdentifier) else { return }
        exchange.task?.cancel()
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
        guard let exchange = underway.removeValue(forKey: task.taskIdentifier) else { return }
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
            let exchange = underway.removeValue(forKey: task.taskIdentifier)
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
