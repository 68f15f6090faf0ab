import ChildProcesses
import Foundation
import Nautilus
import ScriptedSockets
import Testing

/// A server that speaks HTTP/2 over TLS, and HTTP/1.1 to those that do not, by the Python package `h2`, which shares no
/// code with the library under test. The path of a request says what becomes of it; see ``script``.
final class Http2Server: Sendable {
    /// The port on 127.0.0.1, chosen by the system.
    let port: Int
    /// Its certificate, a root for those that trust it.
    let certificate: Data
    private let lines: AsyncStream<String>

    private init(port: Int, certificate: Data, lines: AsyncStream<String>) {
        (self.port, self.certificate, self.lines) = (port, certificate, lines)
    }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// Returns once the server has printed `line` so many times more.
    func wait(for line: String, times: Int = 1) async {
        var left = times
        for await next in lines where next == line {
            left -= 1
            if left == 0 { return }
        }
    }

    /// What the server has got: how many connections, how many exchanges at once it has held back for one another, how
    /// often it has executed the one that it has executed most often, and all that a storm sends, and the requests in
    /// their order, those over HTTP/1.1 with their version.
    struct Report {
        let connections: Int
        let mostAtOnce: Int
        let mostExecuted: Int
        let executed: Int
        let requests: [String]
    }

    /// Asks the server, over a connection that it does not count.
    func report() async throws -> Report {
        let transport = CurlTransport(
            configuration: .init(connectTimeout: .seconds(120), trust: .init(roots: certificate))
        )
        let lines = try await send(.get, url("/report"), through: transport).text.split(separator: "\n").map(
            String.init
        )
        let counts = lines[0].split(separator: " ").compactMap { Int($0) }
        return Report(
            connections: counts[0],
            mostAtOnce: counts[1],
            mostExecuted: counts[2],
            executed: counts[3],
            requests: Array(lines.dropFirst())
        )
    }

    /// A transport that trusts the server and asks for HTTP/2.
    func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) -> CurlTransport {
        var configuration = CurlTransport.Configuration(
            httpVersion: .http2,
            // A machine that runs all tests at once may take long to accept a connection.
            connectTimeout: .seconds(120),
            trust: .init(roots: certificate)
        )
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }

    /// Whether there is a Python with the package: that of `NAUTILUS_PYTHON`, or the system's.
    static var isAvailable: Bool { get async { await check.value } }

    private static let check = Task {
        guard UntrustedTlsServer.openssl != nil, let python, let child = try? ChildProcess(python, ["-c", "import h2"])
        else { return false }
        return await child.ending().code == 0
    }

    private static let python: URL? =
        [ProcessInfo.processInfo.environment["NAUTILUS_PYTHON"] ?? "", "/usr/bin/python3", "/usr/local/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    /// Serves until `body` returns; then ends the process that it started.
    ///
    /// - Parameter options: Those of the script, such as `streams=1`. Default: none.
    static func run<Result>(
        _ options: String...,
        whileOpen body: (Http2Server) async throws -> Result
    ) async throws -> Result {
        guard let python else { throw CocoaError(.fileNoSuchFile) }
        var result: Swift.Result<Result, any Error>?
        try await UntrustedTlsServer.run { identity in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                "nautilus-\(UUID().uuidString).pem"
            )
            defer { try? FileManager.default.removeItem(at: file) }
            try (identity.certificate + identity.key).write(to: file)
            let process = try ChildProcess(python, ["-c", script, file.path] + options)
            process.closeInput()
            do {
                // Its first line is the port.
                guard let port = await process.lines.first(where: { _ in true }).flatMap({ Int($0) }) else {
                    throw CocoaError(.fileReadCorruptFile)
                }
                let server = Http2Server(port: port, certificate: identity.certificate, lines: process.lines)
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            await process.kill()
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs where there is a libcurl with which HTTP/2 is used, and a server to try it with.
    static var whereHttp2: Self {
        .enabled("needs a libcurl with which HTTP/2 is proven, and Python with h2") {
            guard CurlTransport.http2Unavailability == nil else { return false }
            return await Http2Server.isAvailable
        }
    }

    /// Runs where everything but streams goes over HTTP/2, and there is a server to try it with.
    static var whereHttp2Traced: Self {
        .enabled("needs a libcurl whose trace of HTTP/2 is proven, and Python with h2") {
            guard CurlTransport.http2Limitation == nil else { return false }
            return await Http2Server.isAvailable
        }
    }
}
