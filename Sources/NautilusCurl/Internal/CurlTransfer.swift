#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// One exchange as libcurl carries it out: its state, and the functions that libcurl calls.
    final class CurlTransfer: Identifiable, @unchecked Sendable {
        // Unchecked: the state belongs to the caller until the transfer is handed to a loop, and from then on to the
        // thread that steps the loop, under the loop's lock. libcurl calls back only from that thread.

        /// The queue in which the transfer waits for a connection.
        struct Queue: Hashable, Sendable {
            let origin: HttpOrigin
            /// Whether the response is read as it arrives. Such exchanges may last long, and must not hold up the
            /// others.
            let isStreamed: Bool
        }

        let exchange: CurlExchange
        let request: CurlRequest
        /// The queue in which the transfer waits for a connection.
        let queue: Queue
        /// The handle that carries the transfer; nil before it has a connection, and when it is over.
        private(set) var handle: CurlHandle?
        /// How the transfer has ended; nil while it has not.
        private(set) var result: Result<CurlExchange.Answer, any Error>?
        /// The attempt's context, which knows how long the exchange may take.
        let context: TransportContext
        /// Whether libcurl may send the request again if a kept connection dies before any byte of an answer.
        let isRepeatable: Bool
        /// The request's body, if libcurl reads it part by part and it is not a stream.
        private var body: Data?
        private var bodyOffset = 0
        private(set) var head: CurlResponseHead
        private var received: CurlBody
        /// How often the request was written again, after a connection had ended under it.
        private(set) var repeats = 0
        /// Why this side ended the transfer; nil if it did not.
        private var refusal: TransportError?
        /// Why the request must not be written any more; nil while it may be.
        private var endOfSession: (any Error)?
        /// How often libcurl was allowed to write the request.
        private var admissions = 0
        /// How many bytes had been written before the first admission, to ask a proxy for a connection.
        private var sizeBefore = 0
        /// Whether an answer has arrived that makes the rest of a streamed body pointless.
        private(set) var isOvertaken = false
        /// Whether the server has gone before the body was complete.
        private var isLeft = false
        /// Whether the handle can be used for another transfer as it is.
        private var leavesHandleClean = false
        /// Whether the transfer goes on without a caller, since ending it would have to wait.
        var isAbandoned = false

        init(
            _ exchange: CurlExchange,
            of request: CurlRequest,
            context: TransportContext,
            configuration: CurlTransport.Configuration
        ) {
            (self.exchange, self.request, self.context) = (exchange, request, context)
            self.queue = Queue(origin: request.origin, isStreamed: exchange.download != nil)
            self.isRepeatable = request.request.isIdempotent
            self.received = CurlBody(limit: configuration.responseLimit, download: exchange.download)
            self.head = CurlResponseHead(limit: configuration.headerLimit)
        }

        /// Whether the answer may come while a part of the request's body is left.
        var hasLongBody: Bool { body != nil || exchange.upload != nil }

        /// How many bytes of the answer's body have been taken, before decoding.
        var bodyCount: Int64 { received.count }

        var method: HttpMethod { request.request.method }

        /// Whether libcurl was allowed to write the request.
        var isAdmitted: Bool { admissions > 0 }

        private func number(_ info: nautilus_curl_info) -> Int { handle?.number(info) ?? 0 }

        /// Whether anything of the request was written.
        private var isSent: Bool { isAdmitted && number(NAUTILUS_CURL_INFO_REQUEST_SIZE) > sizeBefore }
    }

    extension CurlTransfer {
        /// Has `handle` carry the transfer.
        ///
        /// - Returns: Whether libcurl accepts every option. None may be silently left out, such as a limit, a pinned
        ///   key or the body.
        func take(_ handle: CurlHandle, _ configuration: CurlTransport.Configuration) -> Bool {
            self.handle = handle
            let isSecure = request.isSecure
            handle.prepare { configuration.apply(to: handle, isSecure: isSecure) }
            configuration.applyAddresses(to: handle, of: request.origin)
            body = request.apply(to: handle)
            handle.setContext(self)
            return handle.isComplete
        }
    }

    extension CurlTransfer {
        /// Ends the transfer without libcurl.
        func fail(_ error: any Error) {
            result = .failure(error)
        }

        /// Ends the transfer after libcurl is done.
        ///
        /// - Parameter code: libcurl's code for a failure; 0 for none.
        func end(_ code: Int32) {
            // A header that broke off may not have been a valid header to begin with.
            if !head.isComplete, let handle { _ = nautilus_easy_flush(handle.easy) }
            result = outcome(code)
            // libcurl counts retries as long as the handle lives.
            leavesHandleClean = code == 0 && admissions == 1
        }

        /// Returns the handle, which libcurl no longer uses; nil if there is none.
        func releaseHandle() -> CurlHandle? {
            defer { handle = nil }
            handle?.release(isClean: leavesHandleClean)
            return handle
        }

        /// Tells caller and reader how the transfer has ended.
        func deliver() {
            guard let result else { return }
            exchange.end(result)
        }

        private func outcome(_ code: Int32) -> Result<CurlExchange.Answer, any Error> {
            if !head.isComplete { context.noteConnection(connection) }
            if !isOvertaken, let error = exchange.upload?.error {
                guard let error = error as? HttpBodyStream.ReadError else { return .failure(error) }
                return .failure(TransportError(error).delivered(isSent ? .maybeExecuted : .notSent))
            }
            if let error = endOfSession { return .failure(error) }
            received.end()
            if let error = failure(code) {
                if head.isComplete { context.noteAnswer(answerSoFar) }
                return .failure(error)
            }
            return .success(CurlExchange.Answer(head: head, body: received.bytes))
        }

        private func failure(_ code: Int32) -> TransportError? {
            if let error = refusal ?? received.failure { return error }
            // A complete answer counts, whatever becomes of the rest of the request's body.
            guard code == 0 || isAnswerWhole else {
                return TransportError(CurlFailure(code, of: handle, isSent: isSent, port: request.securePort))
            }
            // Only the empty line proves that a header is complete; libcurl calls a header that breaks off a success.
            guard head.isComplete else { return TransportError(.networkConnectionLost) }
            return received.lacksEnd ? TransportError(.cannotDecodeContentData) : nil
        }

        /// The answer as far as it has arrived.
        private var answerSoFar: HttpResponse<Data> {
            HttpResponse(status: head.status, header: head.header, body: received.bytes, url: request.request.url)
        }

        private func refuse(_ refusal: TransportError) {
            if self.refusal == nil { self.refusal = refusal }
        }
    }

    /// The functions that libcurl calls.
    extension CurlTransfer {
        /// The functions of every transfer.
        static var functions: nautilus_easy_functions {
            nautilus_easy_functions(
                header: { bytes, count, context in
                    let lines = UnsafeRawBufferPointer(start: bytes, count: count)
                    return CurlTransfer.of(context)?.takeLines(lines) ?? NAUTILUS_HEAD_REFUSED
                },
                write: { bytes, count, context in
                    CurlTransfer.of(context)?.takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ?? 0
                },
                read: { bytes, count, context in
                    let target = UnsafeMutableRawBufferPointer(start: bytes, count: count)
                    return CurlTransfer.of(context)?.giveBody(target) ?? Int(NAUTILUS_CURL_ABORT.rawValue)
                },
                rewind: { context in CurlTransfer.of(context)?.rewind() == true ? 1 : 0 },
                admit: { context in CurlTransfer.of(context)?.admit() == true ? 1 : 0 }
            )
        }

        private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            // The loop keeps the transfer alive for as long as libcurl has its handle.
            context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Decides whether the request may be written now; called again if a kept connection has died under it.
        private func admit() -> Bool {
            guard !isAbandoned else { return false }
            if let end = request.request.refusal {
                // A request written to a kept connection that died may have been executed.
                if isSent { refuse(TransportError(.networkConnectionLost)) } else { endOfSession = end }
                return false
            }
            // An exchange that is ended before this check counts as unsent, so nothing may be sent after that.
            context.noteSending()
            guard !exchange.isAnswered else { return false }
            // It is unknown what the server has done with the bytes it got.
            let isRepeat = isSent
            if isRepeat, !isRepeatable {
                refuse(TransportError(.networkConnectionLost))
                return false
            }
            if isRepeat { repeats += 1 }
            if !isAdmitted { sizeBefore = number(NAUTILUS_CURL_INFO_REQUEST_SIZE) }
            admissions += 1
            return true
        }

        private func takeLines(_ lines: UnsafeRawBufferPointer) -> nautilus_head_answer {
            do throws(CurlResponseHead.Refusal) {
                guard try head.take(lines: lines) else { return NAUTILUS_HEAD_TAKEN }
            } catch {
                refuse(TransportError(error))
                return NAUTILUS_HEAD_REFUSED
            }
            return beginBody() ? NAUTILUS_HEAD_COMPLETE : NAUTILUS_HEAD_REFUSED
        }

        private func beginBody() -> Bool {
            context.noteConnection(connection)
            context.noteResponseHeader()
            if head.status >= 300, let upload = exchange.upload {
                upload.close()
                isOvertaken = true
                lookAgain()
            }
            // The attempt's timeout may end the wait for the body.
            if head.status >= 300 { context.noteAnswer(answerSoFar) }
            let isReadable = !head.hasBody(inAnswerTo: method) || received.begin(head)
            if exchange.download != nil { exchange.resolve(.success(CurlExchange.Answer(head: head, body: Data()))) }
            return isReadable
        }

        private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int { received.take(bytes) }

        /// Ends the transfer, since the server has gone and no answer can come any more.
        ///
        /// - Returns: False if an answer has arrived.
        func leave() -> Bool {
            guard !head.isComplete, exchange.upload != nil else { return false }
            isLeft = true
            lookAgain()
            return true
        }

        private func giveBody(_ target: UnsafeMutableRawBufferPointer) -> Int {
            if isLeft { return Int(NAUTILUS_CURL_ABORT.rawValue) }
            // Ending here would make a part of the body look like the whole, and failing would lose the answer.
            guard !isOvertaken else { return Int(NAUTILUS_CURL_PAUSE.rawValue) }
            if let body {
                let count = min(target.count, body.count - bodyOffset)
                let start = body.startIndex + bodyOffset
                body.copyBytes(to: target, from: start..<(start + count))
                bodyOffset += count
                // libcurl asks for more when what it had before has been written.
                if start > body.startIndex { context.noteBodyPart() }
                return count
            }
            switch exchange.upload?.read(into: target) {
            case .bytes(let count): return count
            case .wait: return Int(NAUTILUS_CURL_PAUSE.rawValue)
            case .failed, nil: return Int(NAUTILUS_CURL_ABORT.rawValue)
            }
        }

        /// Goes back to the beginning of the body; returns false if that is not possible.
        private func rewind() -> Bool {
            bodyOffset = 0
            return exchange.upload?.hasBegun != true
        }
    }
#endif
