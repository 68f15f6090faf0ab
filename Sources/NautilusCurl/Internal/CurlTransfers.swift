#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// The transfers that libcurl carries, used by one thread at a time.
    struct CurlTransfers {
        /// The thread that uses the transfers.
        enum Thread {
            /// The loop's own thread, which no signal reaches.
            case own
            case other
        }

        private let loop: OpaquePointer
        private let configuration: CurlTransport.Configuration
        /// Whether a transfer can be ended without waiting while it still looks up its host's name.
        private let endsLookups: Bool
        /// The transfers, by handle.
        private var transfers: [OpaquePointer: CurlTransfer] = [:]
        /// The transfers whose request body takes more than one write.
        private var uploads: [OpaquePointer: CurlTransfer] = [:]
        /// The transfers that have ended and have not been taken yet.
        private var ended: [CurlTransfer] = []
        /// The steps to take next.
        var jobs: [CurlLoop.Job] = []
        private var sockets: CurlSockets
        private var spareHandles = SpareHandles()
        private var isClosed = false

        init(_ loop: OpaquePointer, _ configuration: CurlTransport.Configuration, endsLookups: Bool) {
            self.loop = loop
            self.configuration = configuration
            self.endsLookups = endsLookups
            self.sockets = CurlSockets(endsLookups: endsLookups)
        }

        /// Takes the steps. Once the loop is closed, nothing is under way, and nothing can begin.
        mutating func perform(on thread: Thread) {
            guard !isClosed else { return refuseJobs() }
            for index in jobs.indices {
                switch jobs[index] {
                case .start(let transfer):
                    if index > 0 { settle(on: thread) }
                    start(transfer)
                case .end(let transfer): end(transfer)
                case .resume(let transfer): if has(transfer) { transfer.lookAgain() }
                case .move(let socket): sockets.move(socket, loop)
                }
            }
            jobs.removeAll(keepingCapacity: true)
        }

        private mutating func refuseJobs() {
            for case .start(let transfer) in jobs { refuse(transfer, TransportError.unusable) }
            jobs.removeAll()
        }

        /// Carries out `count` due events; on the loop's own thread.
        mutating func step(_ count: Int32) {
            guard !isClosed else { return }
            nautilus_loop_step(loop, count)
            let isAnyLeft = endLeft()
            if lookAgain() || isAnyLeft { nautilus_loop_step(loop, 0) }
            sockets.moveReady(loop)
        }

        /// Carries out what is due without waiting for an event.
        func begin(on thread: Thread) {
            guard !isClosed else { return }
            beginOnce(on: thread)
            if lookAgain() { beginOnce(on: thread) }
        }

        private func beginOnce(on thread: Thread) {
            switch thread {
            case .own: nautilus_loop_step(loop, 0)
            case .other: nautilus_loop_begin(loop)
            }
        }

        /// Ends the uploads whose server has gone without an answer.
        ///
        /// - Returns: Whether there was one.
        private func endLeft() -> Bool {
            var isAnyLeft = false
            while let easy = nautilus_loop_left(loop) {
                if uploads[easy]?.leave() == true { isAnyLeft = true }
            }
            return isAnyLeft
        }

        /// - Returns: Whether there was a transfer that libcurl has to look at again.
        private func lookAgain() -> Bool {
            guard !uploads.isEmpty else { return false }
            let overtaken = uploads.values.filter(\.isOvertaken)
            for transfer in overtaken { transfer.lookAgain() }
            return !overtaken.isEmpty
        }

        /// Lets libcurl do what the previous jobs have made due.
        ///
        /// In one run, libcurl may see a transfer answered and give its connection to the next transfer: anything that
        /// the server has sent after that answer would be taken for the next answer. So the connection has to come to
        /// rest in between.
        private mutating func settle(on thread: Thread) {
            begin(on: thread)
            gather()
        }

        private func has(_ transfer: CurlTransfer) -> Bool {
            transfer.handle.map { transfers[$0.easy] === transfer } ?? false
        }

        private mutating func start(_ transfer: CurlTransfer) {
            guard !transfer.exchange.isAnswered else { return refuse(transfer, CancellationError()) }
            guard let handle = spareHandles.take(isSecure: transfer.request.isSecure, configuration) else {
                return refuse(transfer, TransportError.unusable)
            }
            guard transfer.take(handle, configuration) else {
                let reason = "libcurl does not take the request, or a setting of the transport's."
                return refuse(
                    transfer,
                    TransportError.failed(.cannotConnectToHost, delivery: .notSent, reason: reason)
                )
            }
            // The transfer is kept alive from here on, since libcurl calls it back.
            transfers[handle.easy] = transfer
            if transfer.hasLongBody { uploads[handle.easy] = transfer }
            if nautilus_loop_add(loop, handle.easy) == 0 { fail(transfer, TransportError.unusable) }
        }

        private mutating func end(_ transfer: CurlTransfer) {
            guard has(transfer) else { return }
            // Before 7.87, the loop would wait until the name is found. So the transfer goes on without its caller, and
            // is never sent.
            guard endsLookups || transfer.isAdmitted else { return transfer.isAbandoned = true }
            fail(transfer, CancellationError())
        }

        private mutating func fail(_ transfer: CurlTransfer, _ error: any Error) {
            if let easy = transfer.handle?.easy {
                _ = nautilus_loop_remove(loop, easy)
                transfers[easy] = nil
                uploads[easy] = nil
            }
            refuse(transfer, error)
        }

        /// Ends a transfer that was not handed to libcurl.
        private mutating func refuse(_ transfer: CurlTransfer, _ error: any Error) {
            transfer.fail(error)
            add(ended: transfer)
        }

        private mutating func add(ended transfer: CurlTransfer) {
            if let handle = transfer.releaseHandle() { spareHandles.add(handle, isSecure: transfer.request.isSecure) }
            ended.append(transfer)
        }

        /// Moves the transfers that have ended since the last call to `others`.
        mutating func takeEnded(into others: inout [CurlTransfer]) {
            gather()
            endOverdue()
            // If both are empty, each keeps its memory.
            guard !ended.isEmpty else { return }
            if others.isEmpty {
                swap(&ended, &others)
            } else {
                others += ended
                ended.removeAll(keepingCapacity: true)
            }
        }

        /// Gathers the transfers that libcurl has ended.
        private mutating func gather() {
            guard !isClosed else { return }
            let isExhausted = nautilus_loop_exhausted(loop) != 0
            var code: Int32 = 0
            while let easy = nautilus_loop_ended(loop, &code) {
                guard let transfer = transfers.removeValue(forKey: easy) else {
                    sockets.connected(easy, code, loop)
                    continue
                }
                if !uploads.isEmpty { uploads[easy] = nil }
                if isExhausted, code == CurlFailure.cannotConnect {
                    transfer.fail(TransportError.unusable)
                } else {
                    transfer.end(code)
                }
                _ = nautilus_loop_remove(loop, easy)
                add(ended: transfer)
            }
        }

        /// Ends the transfers that only the rest of a request's body keeps going, once those are gathered that have
        /// come to their end.
        private mutating func endOverdue() {
            guard !uploads.isEmpty else { return }
            for (easy, transfer) in uploads where transfer.endIfOverdue() {
                (transfers[easy], uploads[easy]) = (nil, nil)
                _ = nautilus_loop_remove(loop, easy)
                add(ended: transfer)
            }
        }

        /// Whether nothing is under way.
        var isIdle: Bool { transfers.isEmpty && ended.isEmpty && sockets.isEmpty }

        /// Returns the web sockets that have ended, and those that have more to do, since the last call.
        mutating func takeSockets() -> (ended: [CurlSocket], waiting: [CurlSocket]) {
            (sockets.takeEnded(), sockets.takeWaiting())
        }

        mutating func failAll() {
            for transfer in transfers.values { fail(transfer, TransportError.unusable) }
            sockets.failAll(loop)
        }

        /// Closes the kept connections; the loop is not used again.
        mutating func close() {
            guard !isClosed else { return }
            isClosed = true
            nautilus_loop_close(loop)
        }
    }

    /// The handles that no transfer uses. Handles of plain requests lack what libcurl keeps for TLS, so the two kinds
    /// are kept apart.
    private struct SpareHandles {
        private var plain: [CurlHandle] = []
        private var secure: [CurlHandle] = []

        /// How many handles of each kind are kept: more transfers are hardly ever under way at once, and a handle takes
        /// some 10 KiB.
        private static let limit = 64

        /// - Returns: Nil if there is no memory left.
        mutating func take(isSecure: Bool, _ configuration: CurlTransport.Configuration) -> CurlHandle? {
            let spare = isSecure ? secure.popLast() : plain.popLast()
            return spare ?? CurlHandle(headerLimit: configuration.headerLimit)
        }

        mutating func add(_ handle: CurlHandle, isSecure: Bool) {
            if isSecure, secure.count < Self.limit { secure.append(handle) }
            if !isSecure, plain.count < Self.limit { plain.append(handle) }
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
