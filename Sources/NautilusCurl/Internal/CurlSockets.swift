#if os(Linux)
    internal import CNautilusCurl
    import NautilusHTTP

    /// The web sockets of a loop, used under the loop's lock.
    struct CurlSockets {
        private var sockets: [OpaquePointer: CurlSocket] = [:]
        /// The sockets whose connections are made, by descriptor.
        private var byDescriptor: [Int32: CurlSocket] = [:]
        private var descriptors: [OpaquePointer: Int32] = [:]
        private var ended: [CurlSocket] = []
        private var waiting: [CurlSocket] = []
        /// Whether a connection can be ended without waiting while it still looks up its host's name.
        private let endsLookups: Bool

        init(endsLookups: Bool) {
            self.endsLookups = endsLookups
        }

        var isEmpty: Bool { sockets.isEmpty && ended.isEmpty }

        /// Starts a socket, or lets it read and write.
        mutating func move(_ socket: CurlSocket, _ loop: OpaquePointer) {
            let easy = socket.handle.easy
            guard sockets[easy] !== socket else {
                if !socket.isConnecting { return proceed(socket.move(), socket, loop) }
                if !socket.caller.wantsSocket, endsLookups { end(socket, loop) }
                return
            }
            guard !socket.isOver, socket.isConnecting else { return }
            sockets[easy] = socket
            if !socket.caller.wantsSocket {
                end(socket, loop)
            } else if nautilus_loop_add(loop, easy) == 0 {
                socket.refuse()
                end(socket, loop)
            }
        }

        /// Continues after libcurl is done with a handle, which may be a socket's.
        mutating func connected(_ easy: OpaquePointer, _ code: Int32, _ loop: OpaquePointer) {
            guard let socket = sockets[easy] else { return }
            proceed(socket.connected(code), socket, loop)
        }

        /// Lets the sockets that the loop's last step has found ready read and write.
        mutating func moveReady(_ loop: OpaquePointer) {
            while true {
                let descriptor = nautilus_loop_ready(loop)
                guard descriptor >= 0 else { return }
                if let socket = byDescriptor[descriptor] { proceed(socket.move(), socket, loop) }
            }
        }

        mutating func failAll(_ loop: OpaquePointer) {
            for socket in sockets.values {
                socket.refuse()
                end(socket, loop)
            }
        }

        /// Returns the sockets that have ended since the last call.
        mutating func takeEnded() -> [CurlSocket] {
            defer { ended = [] }
            return ended
        }

        /// Returns the sockets that have more to do.
        mutating func takeWaiting() -> [CurlSocket] {
            defer { waiting = [] }
            return waiting
        }

        private mutating func proceed(_ next: CurlSocket.Next, _ socket: CurlSocket, _ loop: OpaquePointer) {
            switch next {
            case .end: end(socket, loop)
            case .turn: waiting.append(socket)
            case .readiness(let toRead, let toWrite):
                let easy = socket.handle.easy
                let descriptor = nautilus_loop_watch(loop, easy, (toRead ? 1 : 0) | (toWrite ? 2 : 0))
                guard descriptor >= 0 else { return end(socket, loop) }
                (byDescriptor[descriptor], descriptors[easy]) = (socket, descriptor)
            }
        }

        private mutating func end(_ socket: CurlSocket, _ loop: OpaquePointer) {
            let easy = socket.handle.easy
            guard sockets.removeValue(forKey: easy) != nil else { return }
            if let descriptor = descriptors.removeValue(forKey: easy) { byDescriptor[descriptor] = nil }
            // The connection is not shared, so it ends with the handle.
            _ = nautilus_loop_remove(loop, easy)
            socket.end()
            ended.append(socket)
        }
    }
#endif
