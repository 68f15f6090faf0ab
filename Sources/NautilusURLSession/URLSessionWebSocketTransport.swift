#if !canImport(FoundationNetworking)
    import Foundation
    import NautilusHTTP

    /// Opens web sockets by `URLSession`. The default on Apple's platforms.
    ///
    /// Each socket has a session of its own, without cookies, cache and credentials, which ends with the socket.
    public struct URLSessionWebSocketTransport: WebSocketTransport {
        /// The largest message, in bytes; a larger one breaks off the connection.
        ///
        /// Default: 1 MiB, as in URL loading.
        public let messageLimit: Int
        /// Pinned public keys, of which the server's certificate must have one, besides being valid; see
        /// ``URLSessionTransport/Configuration/pinnedKeys``. Default: none, any key.
        public let pinnedKeys: [Data]

        /// Creates a transport; every default gives its reason at the property.
        public init(messageLimit: Int = 1_048_576, pinnedKeys: [Data] = []) {
            self.messageLimit = messageLimit
            self.pinnedKeys = pinnedKeys
        }

        /// Sends the opening request once.
        ///
        /// - Throws: `TransportError`; `HttpRequest.Invalid`; `CancellationError`.
        public func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            try request.validateOpening()
            var urlRequest = URLRequest(url: request.url, timeoutInterval: URLSessionTransport.backstop)
            for field in request.header.fields {
                urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawValue)
            }
            let socket = SessionWebSocket(pinnedKeys: pinnedKeys)
            let configuration = URLSessionTransport.Configuration().sessionConfiguration()
            let session = URLSession(configuration: configuration, delegate: socket, delegateQueue: nil)
            let task = session.webSocketTask(with: urlRequest)
            task.maximumMessageSize = messageLimit
            let connection = SessionWebSocketConnection(session: session, task: task, socket: socket)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard socket.await(continuation, for: connection) else { return }
                    task.resume()
                }
            } onCancel: {
                socket.fail(CancellationError())
                session.invalidateAndCancel()
            }
        }
    }

    /// The session's reports about one web socket, until it is open.
    private final class SessionWebSocket: NSObject, URLSessionWebSocketDelegate {
        private struct State {
            var continuation: CheckedContinuation<WebSocketOpening, any Error>?
            var connection: SessionWebSocketConnection?
            var ending: (any Error)?
        }

        private let state = Locked(State())
        /// The pinned keys; nil if any key will do.
        private let pinnedKeys: PinnedKeys?

        init(pinnedKeys: [Data]) {
            self.pinnedKeys = pinnedKeys.isEmpty ? nil : PinnedKeys(hashes: pinnedKeys)
        }

        func await(
            _ continuation: CheckedContinuation<WebSocketOpening, any Error>,
            for connection: SessionWebSocketConnection
        ) -> Bool {
            let ending = state.withLock { state in
                if state.ending == nil { (state.continuation, state.connection) = (continuation, connection) }
                return state.ending
            }
            if let ending { continuation.resume(throwing: ending) }
            return ending == nil
        }

        func fail(_ error: any Error) { end(with: .failure(error), ending: error) }

        private func end(with result: Swift.Result<WebSocketOpening, any Error>, ending: (any Error)?) {
            let continuation = state.withLock { state in
                defer { (state.continuation, state.connection) = (nil, nil) }
                if state.ending == nil { state.ending = ending }
                return state.continuation
            }
            continuation?.resume(with: result)
        }

        func urlSession(
            _ session: URLSession,
            webSocketTask: URLSessionWebSocketTask,
            didOpenWithProtocol subprotocol: String?
        ) {
            guard let connection = state.withLock({ $0.connection }) else { return }
            let header = (webSocketTask.response as? HTTPURLResponse).map { HttpHeader($0) } ?? [:]
            end(with: .success(.opened(connection, header: header)), ending: nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            defer { session.finishTasksAndInvalidate() }
            if let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
                let declined = HttpResponse(
                    status: response.statusCode,
                    header: HttpHeader(response),
                    body: Data(),
                    url: response.url
                )
                return end(with: .success(.declined(declined)), ending: error)
            }
            fail(TransportError(error ?? URLError(.networkConnectionLost)))
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
                let pinnedKeys, !pinnedKeys.contain(keyOf: challenge)
            else { return completionHandler(.performDefaultHandling, nil) }
            fail(TransportError(.serverCertificateUntrusted, delivery: .notSent))
            completionHandler(.cancelAuthenticationChallenge, nil)
        }

        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    /// An open web socket, which keeps its session alive.
    private final class SessionWebSocketConnection: WebSocketConnection {
        private let session: URLSession
        private let task: URLSessionWebSocketTask
        /// The pongs that callers wait for.
        private let pongs = Locked<[Pong]>([])

        init(session: URLSession, task: URLSessionWebSocketTask, socket: SessionWebSocket) {
            self.session = session
            self.task = task
        }

        deinit {
            task.cancel(with: .goingAway, reason: nil)
            session.finishTasksAndInvalidate()
        }

        func send(_ message: WebSocketMessage) async throws {
            try await perform {
                switch message {
                case .text(let text): try await task.send(.string(text))
                case .data(let data): try await task.send(.data(data))
                }
            }
        }

        func receive() async throws -> WebSocketMessage {
            try await perform {
                switch try await task.receive() {
                case .string(let text): .text(text)
                case .data(let data): .data(data)
                @unknown default: throw URLError(.badServerResponse)
                }
            }
        }

        func ping() async throws {
            let pong = Pong()
            pongs.withLock { $0.append(pong) }
            defer { pongs.withLock { $0.removeAll { $0 === pong } } }
            try await withTaskCancellationHandler {
                try await perform {
                    try await pong.value { task.sendPing { error in pong.come(error) } }
                }
            } onCancel: {
                pong.come(URLError(.cancelled))
            }
        }

        func close(_ closure: WebSocketClosure) async {
            let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(closure.code.rawValue)) ?? .normalClosure
            task.cancel(with: code, reason: closure.reason.isEmpty ? nil : Data(closure.reason.utf8))
            pongs.withLock { $0 }.forEach { $0.come(closure) }
        }

        /// Runs one operation of the task. Operations cannot be cancelled one by one, so a cancellation cancels the
        /// whole task.
        private func perform<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
            try Task.checkCancellation()
            return try await withTaskCancellationHandler {
                do {
                    return try await operation()
                } catch {
                    try Task.checkCancellation()
                    // 0 is not a code: the socket was not closed, but broke off.
                    guard task.closeCode != .invalid else { throw TransportError(error) }
                    let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? ""
                    throw WebSocketClosure(.init(rawValue: UInt16(task.closeCode.rawValue)), reason: reason)
                }
            } onCancel: {
                task.cancel(with: .goingAway, reason: nil)
            }
        }
    }

    /// The answer to a ping, which counts only once. Foundation may call a ping's handler twice when the connection
    /// ends, and not at all when this side has ended it.
    private final class Pong: Sendable {
        private enum State {
            case awaited(CheckedContinuation<Void, any Error>?)
            case come((any Error)?)
        }

        private let state = Locked(State.awaited(nil))

        /// Sends the ping, and waits.
        func value(after send: () -> Void) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if case .come(let error) = state { return error.map { .failure($0) } ?? .success(()) }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) } else { send() }
            }
        }

        func come(_ error: (any Error)?) {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard case .awaited(let continuation) = state else { return nil }
                state = .come(error)
                return continuation
            }
            continuation?.resume(with: error.map { .failure($0) } ?? .success(()))
        }
    }
#endif
