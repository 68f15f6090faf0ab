#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// The end of a transfer, on its way to its caller.
    struct CurlOutcome {
        let transfer: CurlTransfer
        let result: Result<CurlExchange.Answer, any Error>

        func deliver() {
            transfer.exchange.end(result)
        }
    }

    /// The transfers that libcurl has, one thread at a time.
    struct CurlCore {
        private let loop: OpaquePointer
        /// Whether a transfer that still looks its host's name up can be ended without a wait.
        private let endsLookups: Bool
        /// By their handle.
        private var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        /// Those of them whose body is a stream.
        private var uploads: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        /// Those that have ended before libcurl had them, or from here.
        private var outcomes: [CurlOutcome] = []
        private var sockets: CurlSockets
        private var isClosed = false

        init(_ loop: OpaquePointer, endsLookups: Bool) {
            self.loop = loop
            self.endsLookups = endsLookups
            self.sockets = CurlSockets(endsLookups: endsLookups)
        }

        mutating func perform(_ jobs: [CurlLoop.Job]) {
            for (index, job) in jobs.enumerated() {
                switch job {
                case .start(let transfer):
                    if index > 0 { settle() }
                    start(transfer)
                case .end(let transfer): end(transfer)
                case .resume(let transfer):
                    if transfers[transfer.handle.easy] === transfer { nautilus_easy_resume(transfer.handle.easy) }
                case .move(let socket): sockets.move(socket, loop)
                }
            }
        }

        /// Carries out `count` due events; on the loop's own thread.
        mutating func step(_ count: Int32) {
            nautilus_loop_step(loop, count)
            let isAnyLeft = endLeft()
            if lookAgain() || isAnyLeft { nautilus_loop_step(loop, 0) }
            sockets.moveReady(loop)
        }

        /// Carries out what is due without an event; on any thread.
        func begin() {
            nautilus_loop_begin(loop)
            if lookAgain() { nautilus_loop_begin(loop) }
        }

        /// Ends the uploads whose server has gone without an answer.
        ///
        /// - Returns: Whether there is one.
        private func endLeft() -> Bool {
            var isAnyLeft = false
            while let easy = nautilus_loop_left(loop) {
                if uploads[easy]?.leave() == true { isAnyLeft = true }
            }
            return isAnyLeft
        }

        /// - Returns: Whether there is a transfer that libcurl has to look at again.
        private func lookAgain() -> Bool {
            let overtaken = uploads.values.filter(\.isOvertaken)
            for transfer in overtaken { transfer.lookAgain() }
            return !overtaken.isEmpty
        }

        /// Lets libcurl do what the jobs before have made due.
        ///
        /// A transfer may be answered at once, and its connection be the next one's, in one go of libcurl's: what the server
        /// has sent behind that answer would then pass for the next one. So the connection has to come to rest in between.
        private mutating func settle() {
            begin()
            gather()
        }

        private mutating func start(_ transfer: CurlTransfer) {
            guard !transfer.exchange.isAnswered else {
                return outcomes.append(CurlOutcome(transfer: transfer, result: .failure(CancellationError())))
            }
            // Held from here on: libcurl calls it back.
            transfers[transfer.handle.easy] = transfer
            if transfer.exchange.upload != nil { uploads[transfer.handle.easy] = transfer }
            if nautilus_loop_add(loop, transfer.handle.easy) == 0 { fail(transfer, TransportError.unusable) }
        }

        private mutating func end(_ transfer: CurlTransfer) {
            guard transfers[transfer.handle.easy] === transfer else { return }
            // Before 7.87 the loop would wait until the name is found. It goes on by itself, and is not sent.
            guard endsLookups || transfer.isAdmitted else { return transfer.isAbandoned = true }
            fail(transfer, CancellationError())
        }

        private mutating func fail(_ transfer: CurlTransfer, _ error: any Error) {
            _ = nautilus_loop_remove(loop, transfer.handle.easy)
            transfers[transfer.handle.easy] = nil
            uploads[transfer.handle.easy] = nil
            outcomes.append(CurlOutcome(transfer: transfer, result: .failure(error)))
        }

        /// Those that have ended since this was last asked.
        mutating func ended() -> [CurlOutcome] {
            gather()
            defer { outcomes = [] }
            return outcomes
        }

        private mutating func gather() {
            var code: Int32 = 0
            while let easy = nautilus_loop_ended(loop, &code) {
                guard let transfer = transfers.removeValue(forKey: easy) else {
                    sockets.connected(easy, code, loop)
                    continue
                }
                uploads[easy] = nil
                let result = transfer.outcome(code)
                _ = nautilus_loop_remove(loop, easy)
                outcomes.append(CurlOutcome(transfer: transfer, result: result))
            }
        }

        /// Whether nothing is under way.
        var isIdle: Bool { transfers.isEmpty && outcomes.isEmpty && sockets.isEmpty }

        /// The web sockets that have ended, and those that have more to do, since this was last asked.
        mutating func takeSockets() -> (ended: [CurlSocket], waiting: [CurlSocket]) {
            (sockets.takeEnded(), sockets.takeWaiting())
        }

        mutating func failAll() {
            for transfer in transfers.values { fail(transfer, TransportError.unusable) }
            sockets.failAll(loop)
        }

        /// Closes the kept connections, and releases the loop; it is not used again.
        mutating func close() {
            guard !isClosed else { return }
            isClosed = true
            nautilus_loop_destroy(loop)
        }
    }

    extension TransportError {
        /// The system has no thread, descriptor or memory left.
        static let unusable = TransportError.failed(
            .cannotConnectToHost,
            delivery: .notSent,
            reason: "The system has no more threads, descriptors or memory for connections."
        )
    }
#endif
