import ChildProcesses
import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets

/// A TLS server with a certificate made on the spot.
final class PythonTlsServer: Sendable {
    /// Where it listens.
    let url: URL
    /// Its certificate, a root for those that trust it.
    let certificate: Data
    private let lines: AsyncStream<String>

    /// A file with its certificate.
    let root: URL

    private init(url: URL, certificate: Data, root: URL, lines: AsyncStream<String>) {
        (self.url, self.certificate, self.root, self.lines) = (url, certificate, root, lines)
    }

    /// The course of its connections.
    enum Course: String {
        /// Answers every request.
        case answers
        /// Answers each request, then says farewell (`close_notify`) and leaves the connection open.
        case farewell
        /// Answers each request with its path; behind the answer to `/behind`, in the same record of TLS as its body,
        /// is a second answer.
        case behind
        /// Reads 16 000 bytes, of a network that takes little at once, and then resets the connection.
        case reset
    }

    /// Whether there is what it needs.
    static let isAvailable = python != nil && UntrustedTlsServer.openssl != nil

    private static let python: URL? = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    /// A transport that trusts it.
    func trustingTransport() -> CurlTransport {
        CurlTransport(configuration: .init(connectTimeout: .seconds(120), trust: .init(roots: certificate)))
    }

    /// Returns once one more connection has come to the end of its course.
    func oneMore() async {
        _ = await lines.first { _ in true }
    }

    /// Serves until `body` returns; then ends the process that it started.
    static func run(
        _ course: Course = .farewell,
        whileOpen body: (PythonTlsServer) async throws -> Void
    ) async throws {
        try await UntrustedTlsServer.run { identity in
            guard let python else { throw CocoaError(.fileNoSuchFile) }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                "nautilus-\(UUID().uuidString).pem"
            )
            defer { try? FileManager.default.removeItem(at: file) }
            try (identity.certificate + identity.key).write(to: file)
            let process = try ChildProcess(python, ["-c", script, file.path, course.rawValue])
            let result: Result<Void, any Error>
            do {
                // Its first line is the port.
                guard let port = await process.lines.first(where: { _ in true }).flatMap({ Int($0) }),
                    let url = URL(string: "https://127.0.0.1:\(port)/")
                else { throw CocoaError(.fileReadCorruptFile) }
                let server = PythonTlsServer(
                    url: url,
                    certificate: identity.certificate,
                    root: file,
                    lines: process.lines
                )
                result = .success(try await body(server))
            } catch {
                result = .failure(error)
            }
            await process.kill()
            try result.get()
        }
    }

    /// A thread for each connection, in which it is told how many there have been.
    private static let script = """
        import socket, ssl, struct, sys, threading

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        listener = socket.socket()
        if sys.argv[2] == "reset":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        open_ones = []

        def serve(plain, number):
            secure = context.wrap_socket(plain, server_side=True)
            open_ones.append(secure)
            text = b""
            if sys.argv[2] == "reset":
                while len(text) < 16_000:
                    read = secure.recv(4096)
                    if not read:
                        return
                    text += read
                secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                secure.close()
                print("reset", flush=True)
                return
            while sys.argv[2] == "behind":
                while b"\\r\\n\\r\\n" not in text:
                    read = secure.recv(4096)
                    if not read:
                        return
                    text += read
                path, text = text.split(b" ")[1], b""
                answer = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(path)
                secure.sendall(answer)
                secure.sendall(path + (answer + b"/others" if path == b"/behind" else b""))
            while sys.argv[2] == "answers":
                if not secure.recv(4096):
                    return
                secure.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
            while b"\\r\\n\\r\\n" not in text:
                read = secure.recv(4096)
                if not read:
                    return
                text += read
            body = str(number).encode()
            secure.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
            secure.setblocking(False)
            try:
                secure.unwrap()
            except (ssl.SSLError, OSError):
                # The client's own farewell has not come.
                pass
            print("farewell", flush=True)

        print(listener.getsockname()[1], flush=True)
        number = 0
        while True:
            plain, _ = listener.accept()
            # Its farewell is to be there when it says so.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number += 1
            threading.Thread(target=serve, args=(plain, number), daemon=True).start()
        """
}
