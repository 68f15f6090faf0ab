import FlyingSocks
import Foundation

/// A server on 127.0.0.1 that answers every connection with a script, byte by byte.
///
/// ```swift
/// try await ScriptedServer.run { connection in
///     _ = try await connection.readRequest()
///     try await connection.reset()
/// } whileOpen: { server in
///     // send something to server.url
/// }
/// ```
public final class ScriptedServer: Sendable {
    /// The course of one connection. Throwing, as when the peer has gone, closes the connection.
    public typealias Script = @Sendable (ScriptedConnection) async throws -> Void

    /// Where it listens.
    public enum Address: Sendable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
        /// A Unix socket with this path, which must not exist.
        case unix(path: String)
    }

    /// The port, chosen by the system; 0 on a Unix socket.
    public let port: UInt16
    private let log = RequestLog()

    private init(port: UInt16) {
        self.port = port
    }

    /// `http://127.0.0.1:port`.
    public var url: URL { url(scheme: "http", host: "127.0.0.1") }

    /// The server under another scheme or host name, as for a TLS client that meets no TLS.
    public func url(scheme: String, host: String) -> URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = (scheme, host, Int(port))
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// The requests of all connections, in the order in which their last byte came.
    public var requests: [RecordedRequest] {
        get async { await log.requests }
    }

    /// How many connections were accepted.
    public var connectionCount: Int {
        get async { await log.connectionCount }
    }

    /// Returns once a connection was accepted.
    public func firstConnection() async { await log.firstConnection() }

    /// Serves connections, each in a task of its own, until `body` returns; then cancels what is left of them.
    ///
    /// - Parameters:
    ///   - address: Where it listens. Default: 127.0.0.1.
    ///   - script: The course of each connection.
    @discardableResult
    public static func run<Result: Sendable>(
        at address: Address = .ipv4,
        _ script: @escaping Script,
        whileOpen body: @Sendable (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let pool = try await SharedPool.shared.started()
        let socket = try bound(to: address)
        try socket.listen()
        let port: UInt16
        switch try socket.sockname() {
        case .ip4(_, let chosen), .ip6(_, let chosen): port = chosen
        case .unix: port = 0
        }
        let listener = try AsyncSocket(socket: socket, pool: pool)
        let server = ScriptedServer(port: port)
        let accepting = Task { await server.accept(on: listener, script) }
        do {
            let result = try await body(server)
            await stop(accepting, listener)
            return result
        } catch {
            await stop(accepting, listener)
            throw error
        }
    }

    /// Runs `body` with a server that refuses every connection: its port is taken, so that nobody else is given it, and
    /// nothing listens there; until `body` starts a server at it, if it does.
    public static func whileRefusing<Result: Sendable>(
        _ body: @Sendable (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let socket = try Socket(domain: Int32(sa_family_t(AF_INET)), type: .stream)
        defer { try? socket.close() }
        try socket.setValue(true, for: .localAddressReuse)
        try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        guard case .ip4(_, let port) = try socket.sockname() else { throw CancellationError() }
        return try await body(ScriptedServer(port: port))
    }

    private static func bound(to address: Address) throws -> Socket {
        let family =
            switch address {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        let socket = try Socket(domain: Int32(sa_family_t(family)), type: .stream)
        switch address {
        case .ipv4:
            try socket.setValue(true, for: .localAddressReuse)
            try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        case .ipv6:
            try socket.setValue(true, for: .localAddressReuse)
            try socket.bind(to: .inet6(ip6: "::1", port: 0))
        case .unix(let path): try socket.bind(to: .unix(path: path))
        }
        return socket
    }

    private static func stop(_ accepting: Task<Void, Never>, _ listener: AsyncSocket) async {
        accepting.cancel()
        await accepting.value
        try? listener.close()
    }

    private func accept(on listener: AsyncSocket, _ script: @escaping Script) async {
        await withDiscardingTaskGroup { group in
            while let socket = try? await listener.accept() {
                await log.addConnection()
                group.addTask { [log] in
                    let connection = ScriptedConnection(socket: socket, log: log)
                    try? await script(connection)
                    await connection.close()
                }
            }
            group.cancelAll()
        }
    }
}

/// The requests and connections that a server has seen.
actor RequestLog {
    private(set) var requests: [RecordedRequest] = []
    private(set) var connectionCount = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func add(_ request: RecordedRequest) {
        requests.append(request)
    }

    func addConnection() {
        connectionCount += 1
        waiting.forEach { $0.resume() }
        waiting = []
    }

    func firstConnection() async {
        guard connectionCount == 0 else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}

/// The event loop of all servers of the process.
private actor SharedPool {
    static let shared = SharedPool()
    private var running: Task<any AsyncSocketPool, any Error>?

    func started() async throws -> any AsyncSocketPool {
        if let running { return try await running.value }
        let starting = Task<any AsyncSocketPool, any Error> {
            let pool: some AsyncSocketPool = .make()
            try await pool.prepare()
            Task { try await pool.run() }
            return pool
        }
        running = starting
        return try await starting.value
    }
}
