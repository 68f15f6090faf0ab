#if os(Linux)
    import Foundation

    /// The descriptors that the process holds open.
    package enum OpenDescriptors {
        /// Whether it can be told what one test holds: nothing else runs, as `NAUTILUS_ALONE` says.
        package static let canBeCounted = ProcessInfo.processInfo.environment["NAUTILUS_ALONE"] != nil

        /// How many there are once no transport has a thread any more, which end on their own after their transports.
        ///
        /// - Parameter expected: How many there are to be, for which there are ten seconds; nil when that is not known yet:
        ///   then as many as there are for half a second, since a server may close its sockets later than its clients.
        /// - Returns: Nil when a transport has a thread after ten seconds.
        package static func settled(at expected: Int? = nil) async throws -> Int? {
            var (latest, unchanged) = (0, 0)
            for _ in 0..<1000 {
                let now = try count()
                let isQuiet = try loopThreads() == 0
                unchanged = isQuiet && now == latest ? unchanged + 1 : 0
                latest = now
                if isQuiet, let expected, now <= expected { return now }
                if expected == nil, unchanged == 50 { return now }
                try await Task.sleep(for: .milliseconds(10))
            }
            return try loopThreads() == 0 ? count() : nil
        }

        /// The descriptors of the process's connections to a port on 127.0.0.1.
        package static func connected(to port: UInt16) throws -> [Int32] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter {
                socket in
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isKnown = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
                }
                return isKnown && address.sin_family == sa_family_t(AF_INET)
                    && UInt16(bigEndian: address.sin_port) == port
            }
        }

        /// The value of one of TCP's options.
        package static func option(_ option: Int32, of socket: Int32) throws -> Int32 {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            guard getsockopt(socket, Int32(IPPROTO_TCP), option, &value, &length) == 0 else {
                throw CocoaError(.fileReadUnknown)
            }
            return value
        }

        /// Runs `body` while the process can open no descriptor but those that are closed meanwhile.
        package static func whileExhausted(_ body: () async throws -> Void) async throws {
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            guard getrlimit(descriptors, &limit) == 0 else { throw CocoaError(.fileReadUnknown) }
            var low = limit
            low.rlim_cur = 512
            setrlimit(descriptors, &low)
            var fillers: [Int32] = []
            while case let filler = open("/dev/null", O_RDONLY | O_CLOEXEC), filler >= 0 { fillers.append(filler) }
            defer {
                for filler in fillers { close(filler) }
                setrlimit(descriptors, &limit)
            }
            try await body()
        }

        private static func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }

        /// How many threads there are that wait for the sockets of a transport.
        private static func loopThreads() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { thread in
                // One that has ended meanwhile has no name any more.
                let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
                return name?.hasPrefix("nautilus-curl") == true
            }.count
        }
    }
#endif
