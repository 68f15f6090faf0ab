#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP
    import FoundationNetworking

    /// A web socket as a loop drives it: its connection, its opening, and then the bytes of its channel, both ways.
    final class CurlSocket: @unchecked Sendable {
        // Unchecked: the state belongs to the thread that steps the loop, under the loop's lock; everything else has
        // locks of its own.

        /// The event to wait for.
        enum Next: Hashable {
            case readiness(toRead: Bool, toWrite: Bool)
            /// No event: the socket has more to do at once, after the others have had their turns.
            case turn
            /// The connection is no longer usable.
            case end
        }

        private enum Stage {
            case connecting
            case opening(WebSocketOpeningAnswer)
            case open
            case over
        }

        let handle: CurlHandle
        /// The socket's messages, once it is open.
        let channel: WebSocketChannel
        let caller = CurlSocketCaller()
        private let request: WebSocketOpeningRequest
        /// Returns why the request must not be written any more; nil while it may be.
        private let endOfSession: @Sendable () -> (any Error)?
        private let closeTimeout: Duration
        /// Keeps the loop's thread from ending before the connection has ended.
        private let reference: Locked<CurlLoop.Reference?>
        private var stage = Stage.connecting
        /// The bytes being written. Their memory must not move, since TLS has to be given the same bytes again.
        private var output: [UInt8]
        private var offset = 0
        /// libcurl's last code for why reading or writing failed; nil for none.
        private var lastFailure: Int32?
        /// Ends the wait for a server that does not end the connection of a closed socket.
        private var closing: Task<Void, Never>?
        private let headerLimit: Int
        private let refusalLimit: Int

        /// How often a socket reads before others have their turn: four TLS records may be 32 000 frames.
        private static let readsAtOnce = 4
        private static let bufferSize = 16_384
        /// How often such turns read what a connection has brought when it ends: 8 MiB, more than Linux buffers by
        /// default, 6.
        private static let turnsForRest = 128

        init(
            _ request: WebSocketOpeningRequest,
            _ handle: CurlHandle,
            _ reference: CurlLoop.Reference,
            headerLimit: Int,
            configuration: CurlWebSocketTransport.Configuration,
            endOfSession: @escaping @Sendable () -> (any Error)?
        ) {
            self.request = request
            self.endOfSession = endOfSession
            self.handle = handle
            self.reference = Locked(reference)
            self.headerLimit = headerLimit
            self.refusalLimit = configuration.declinedBodyLimit
            self.closeTimeout = configuration.closeTimeout
            self.output = request.bytes
            self.channel = WebSocketChannel(
                messageLimit: configuration.messageLimit,
                messagesAhead: configuration.messagesAhead
            ) { .random(in: .min ... .max) }
        }

        /// Releases the loop. Called when the connection has ended, and not under the loop's lock.
        func release() {
            let reference = reference.withLock { $0.take() }
            withExtendedLifetime(reference) {}
        }

        var isConnecting: Bool { if case .connecting = stage { true } else { false } }
        var isOver: Bool { if case .over = stage { true } else { false } }

        /// Whether the request has begun to be written.
        private var isSent: Bool { offset > 0 || output.isEmpty }
    }

    /// The loop's side.
    extension CurlSocket {
        /// Continues after libcurl has connected, or has failed to.
        ///
        /// - Parameter code: libcurl's code for a failure; 0 for none.
        func connected(_ code: Int32) -> Next {
            guard code == 0 else {
                fail(code)
                return .end
            }
            // The user may have signed out meanwhile.
            if let end = endOfSession() {
                caller.resolve(.failure(end))
                return .end
            }
            stage = .opening(WebSocketOpeningAnswer(to: request, headerLimit: headerLimit, bodyLimit: refusalLimit))
            return move()
        }

        /// Reads and writes as much as possible.
        func move() -> Next {
            if case .over = stage { return .end }
            if !caller.wantsSocket { return .end }
            var canWrite = write()
            var (isAtEnd, hasMore) = (false, false)
            if canWrite != nil {
                hasMore = read(&isAtEnd)
                // Reading may have made answers due.
                if !isAtEnd, canWrite == true { canWrite = write() }
            }
            if canWrite == nil {
                readRest()
                isAtEnd = true
            }
            if case .over = stage { return .end }
            if isAtEnd {
                endOpening()
                return .end
            }
            guard !channel.isOver else { return .end }
            beginClosing()
            if hasMore { return .turn }
            return .readiness(toRead: wantsInput, toWrite: canWrite == false)
        }

        /// Cleans up after the connection has ended, from either side.
        func end() {
            stage = .over
            closing?.cancel()
            closing = nil
            output = []
            channel.disconnect()
            caller.resolve(.failure(CancellationError()))
        }

        /// Fails the opening, because the system has no resources left.
        func refuse() {
            caller.resolve(.failure(TransportError.unusable))
        }
    }

    /// The bytes.
    extension CurlSocket {
        private var wantsInput: Bool {
            if case .open = stage { channel.wantsInput } else { true }
        }

        /// Writes the frames that are due.
        ///
        /// - Returns: Whether everything was written; nil if the connection accepts nothing more.
        private func write() -> Bool? {
            while true {
                if offset == output.count {
                    guard case .open = stage, let frame = channel.nextFrame() else { return true }
                    (output, offset) = (frame, 0)
                }
                var count = 0
                let code = output.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    return rest.baseAddress.map { nautilus_easy_send(handle.easy, $0, rest.count, &count) } ?? 0
                }
                offset += count
                if code == NAUTILUS_CURL_AGAIN.rawValue { return false }
                guard code == 0 else {
                    lastFailure = code
                    return nil
                }
                // Nothing was written, and no reason given.
                if count == 0 { return false }
            }
        }

        /// Reads what a connection that accepts nothing more has brought already: messages, and the reason. All of it,
        /// though there be no room, since it is in the system's buffer and would be lost.
        private func readRest() {
            var isAtEnd = false
            for _ in 0..<Self.turnsForRest where !isAtEnd {
                guard read(&isAtEnd, beyondRoom: true) else { return }
            }
        }

        /// Reads as long as there is room.
        ///
        /// - Parameters:
        ///   - isAtEnd: Becomes true if the connection brings nothing more.
        ///   - beyondRoom: Whether to read on without room. Default: false.
        /// - Returns: Whether there may be more to read at once.
        private func read(_ isAtEnd: inout Bool, beyondRoom: Bool = false) -> Bool {
            withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 16) { buffer in
                guard let start = buffer.baseAddress else { return false }
                for _ in 0..<Self.readsAtOnce {
                    guard beyondRoom || wantsInput, !isSettled else { return false }
                    var count = 0
                    let code = nautilus_easy_receive(handle.easy, start, buffer.count, &count)
                    if code == NAUTILUS_CURL_AGAIN.rawValue { return false }
                    guard code == 0, count > 0 else {
                        if code != 0 { lastFailure = code }
                        isAtEnd = true
                        return false
                    }
                    take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
                return true
            }
        }

        /// Whether further bytes no longer matter.
        private var isSettled: Bool {
            switch stage {
            case .over: true
            case .open: channel.isOver
            case .connecting, .opening: false
            }
        }

        private func take(_ bytes: UnsafeRawBufferPointer) {
            guard case .opening(var answer) = stage else { return channel.take(bytes) }
            let outcome = Result { () throws(TransportError) in try answer.take(bytes) }
            stage = .opening(answer)
            switch outcome {
            case .success(nil): break
            case .success(let outcome?): settle(.success(outcome))
            case .failure(let error): settle(.failure(error))
            }
        }

        /// Continues with the outcome of the opening.
        private func settle(_ outcome: Result<WebSocketOpeningAnswer.Outcome, TransportError>) {
            switch outcome {
            case .success(.opened(let header, let frames)):
                stage = .open
                frames.withUnsafeBytes { channel.take($0) }
                caller.resolve(.success(.opened(header)))
            case .success(.declined(let response)):
                stage = .over
                caller.resolve(.success(.declined(response)))
            case .failure(let error):
                stage = .over
                caller.resolve(.failure(error))
            }
        }

        /// Ends the opening because the connection ended before the answer was complete.
        private func endOpening() {
            guard case .opening(let answer) = stage else { return }
            if let code = lastFailure, !answer.hasHeader { return fail(code) }
            settle(Result { () throws(TransportError) in try answer.end() })
        }

        private func fail(_ code: Int32) {
            settle(.failure(TransportError(CurlFailure(code, of: handle, isSent: isSent, port: request.securePort))))
        }

        /// Limits the wait for a server that does not end the connection once the socket is closed.
        private func beginClosing() {
            guard closing == nil, channel.isClosing else { return }
            closing = Task.detached { [weak self, closeTimeout] in
                guard (try? await Task.sleep(for: closeTimeout)) != nil else { return }
                self?.cut()
            }
        }

        /// Ends the connection at once, in any state.
        func cut() {
            caller.leave()
            wake()
        }

        /// Has the loop attend to the socket. May be called from anywhere.
        func wake() {
            guard let reference = reference.withLock({ $0 }) else { return }
            // Releasing the last reference stops the loop, which must not happen during this call.
            withExtendedLifetime(reference) { reference.loop.move(self) }
        }
    }
#endif
