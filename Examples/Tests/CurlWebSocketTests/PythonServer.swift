import ChildProcesses
import Foundation

/// A server of web sockets by the Python package `websockets`, which shares no code with the library under test.
final class PythonServer: Sendable {
    /// The port on 127.0.0.1, chosen by the system.
    let port: Int

    private init(port: Int) {
        self.port = port
    }

    func url(_ path: String, scheme: String = "ws") -> URL? { URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") }

    /// Whether there is a Python with the package: that of `NAUTILUS_PYTHON`, or the system's.
    static var isAvailable: Bool { get async { await check.value } }

    private static let check = Task {
        guard let python, let child = try? ChildProcess(python, ["-c", "import websockets.asyncio.server"]) else {
            return false
        }
        return await child.ending().code == 0
    }

    private static let python: URL? =
        [ProcessInfo.processInfo.environment["NAUTILUS_PYTHON"] ?? "", "/usr/bin/python3", "/usr/local/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    /// Serves until `body` returns; then ends the process that it started.
    ///
    /// - Parameter secure: Its certificate and key for TLS, in PEM; nil for no TLS.
    static func run(
        secure: (certificate: Data, key: Data)? = nil,
        whileOpen body: (PythonServer) async throws -> Void
    ) async throws {
        guard let python else { throw CocoaError(.fileNoSuchFile) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nautilus-py-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var arguments = ["-c", script]
        if let secure {
            let file = folder.appendingPathComponent("identity.pem")
            try (secure.certificate + secure.key).write(to: file)
            arguments.append(file.path)
        }
        let process = try ChildProcess(python, arguments)
        process.closeInput()
        let result: Result<Void, any Error>
        do {
            // Its first line is the port.
            guard let port = await process.lines.first(where: { _ in true }).flatMap({ Int($0) }) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            result = .success(try await body(PythonServer(port: port)))
        } catch {
            result = .failure(error)
        }
        await process.kill()
        try result.get()
    }

    private static let script = """
        import asyncio, ssl, sys
        from websockets.asyncio.server import serve

        async def handle(socket):
            path = socket.request.path
            if path == "/echo":
                async for message in socket:
                    await socket.send(message)
            elif path == "/fragments":
                await socket.send(["frag", "", "ments \\u00e9"])
                await socket.send([b"\\x00", b"\\x01\\x02"])
            elif path == "/ping":
                pong = await socket.ping(b"hello")
                await pong
                await socket.send("ponged")
            elif path == "/count":
                count = 0
                async for message in socket:
                    count += len(message)
                    if not message:
                        await socket.send(str(count))
            elif path.startswith("/close/"):
                await socket.close(int(path[7:]), "so \\u00e9")

        async def look(socket, request):
            if request.path == "/decline":
                response = socket.respond(401, "who are you?")
                response.headers["WWW-Authenticate"] = "Bearer"
                return response

        def choose(socket, offered):
            return "v2.chat" if "v2.chat" in offered else None

        async def main():
            secure = None
            if len(sys.argv) > 1:
                secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                secure.load_cert_chain(sys.argv[1])
            server = await serve(
                handle, "127.0.0.1", 0, ssl=secure, process_request=look, select_subprotocol=choose,
                max_size=2 ** 26, ping_interval=0.02, ping_timeout=None,
            )
            print(server.sockets[0].getsockname()[1], flush=True)
            # Should the test process die, this one does not live forever.
            await asyncio.sleep(300)

        asyncio.run(main())
        """
}
