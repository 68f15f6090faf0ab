#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// The transfers that libcurl has, one thread at a time.
    struct CurlCore {
        /// The thread that has the core.
        enum Thread {
            /// The loop's, which no signal reaches.
            case own
            case other
        }

        private let loop: OpaquePointer
        private let configuration: CurlTransport.Configuration
        /// Whether a transfer that still looks its host's name up can be ended without a wait.
        private let endsLookups: Bool
        /// By their handle.
        private var transfers: [OpaquePointer: CurlTransfer] = [:]
        /// Those of them whose body is a stream.
        private var uploads: [OpaquePointer: CurlTransfer] = [:]
        /// Those that have ended since this was last asked.
        private var ended: [CurlTransfer] = []
        /// The steps to be taken next.
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

        /// Takes the steps.
        mutating func perform(on thread: Thread) {
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

        /// Carries out `count` due events; on the loop's own thread.
        mutating func step(_ count: Int32) {
            nautilus_loop_step(loop, count)
            let isAnyLeft = endLeft()
            if lookAgain() || isAnyLeft { nautilus_loop_step(loop, 0) }
            sockets.moveReady(loop)
        }

        /// Carries out what is due without an event.
        func begin(on thread: Thread) {
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
            guard !uploads.isEmpty else { return false }
            let overtaken = uploads.values.filter(\.isOvertaken)
            for transfer in overtaken { transfer.lookAgain() }
            return !overtaken.isEmpty
        }

        /// Lets libcurl do what the jobs before have made due.
        ///
        /// A transfer may be answered at once, and its connection be the next one's, in one go of libcurl's: what the
        /// server has sent behind that answer would then pass for the next one. So the connection has to come to rest
        /// in between.
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
            // Held from here on: libcurl calls it back.
            transfers[handle.easy] = transfer
            if transfer.exchange.upload != nil { uploads[handle.easy] = transfer }
            if nautilus_loop_add(loop, handle.easy) == 0 { fail(transfer, TransportError.unusable) }
        }

        private mutating func end(_ transfer: CurlTransfer) {
            guard has(transfer) else { return }
            // Before 7.87 the loop would wait until the name is found. It goes on by itself, and is not sent.
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

        /// Ends a transfer that libcurl does not have.
        private mutating func refuse(_ transfer: CurlTransfer, _ error: any Error) {
            transfer.fail(error)
            add(ended: transfer)
        }

        private mutating func add(ended transfer: CurlTransfer) {
            if let handle = transfer.releaseHandle() { spareHandles.add(handle, isSecure: transfer.request.isSecure) }
            ended.append(transfer)
        }

        /// Adds those that have ended since this was last asked to `others`.
        mutating func takeEnded(into others: inout [CurlTransfer]) {
            gather()
            // Of two empty ones each keeps its memory.
            guard !ended.isEmpty else { return }
            if others.isEmpty {
                swap(&ended, &others)
            } else {
                others += ended
                ended.removeAll(keepingCapacity: true)
            }
        }

        private mutating func gather() {
            var code: Int32 = 0
            while let easy = nautilus_loop_ended(loop, &code) {
                guard let transfer = transfers.removeValue(forKey: easy) else {
                    sockets.connected(easy, code, loop)
                    continue
                }
                if !uploads.isEmpty { uploads[easy] = nil }
                transfer.end(code)
                _ = nautilus_loop_remove(loop, easy)
                add(ended: transfer)
            }
        }

        /// Whether nothing is under way.
        var isIdle: Bool { transfers.isEmpty && ended.isEmpty && sockets.isEmpty }

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

    /// The handles that no transfer has. What libcurl keeps for TLS, those of plain requests do without, so that each
    /// kind is kept apart.
    private struct SpareHandles {
        private var plain: [CurlHandle] = []
        private var secure: [CurlHandle] = []

        /// How many of a kind are kept: more transfers are hardly ever under way at once, and one takes some 10 KiB.
        private static let limit = 64

        /// - Returns: Nil where there is no memory left.
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
