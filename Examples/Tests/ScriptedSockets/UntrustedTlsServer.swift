import ChildProcesses
import Foundation

/// A TLS server with a certificate that no client trusts, made on the spot by `openssl`.
public final class UntrustedTlsServer: Sendable {
    /// The port on 127.0.0.1, chosen by the system.
    public let port: Int
    /// Its certificate, in PEM: a root for a client that is to trust it after all, and a client's as well.
    public let certificate: Data
    /// The certificate's private key, in PEM.
    public let key: Data
    /// SHA-256 of the certificate's SubjectPublicKeyInfo.
    public let publicKeyHash: Data

    /// Where `openssl` is; nil when this machine has none, in which case the tests that need it are to be skipped.
    public static let openssl: URL? = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    private init(port: Int, folder: URL) throws {
        self.port = port
        func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }
        (certificate, key, publicKeyHash) = try (read("certificate.pem"), read("key.pem"), read("hash"))
    }

    /// Serves until `body` returns; then ends the process that it started.
    ///
    /// - Parameter options: Those of `openssl s_server`. Default: `-www`, which answers every request with a page, and closes.
    public static func run(
        _ options: String = "-www",
        whileOpen body: (UntrustedTlsServer) async throws -> Void
    ) async throws {
        guard let openssl else { throw CocoaError(.fileNoSuchFile) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nautilus-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await makeCertificate(with: openssl, in: folder)
        // Twenty handshakes at most: should the test process die, this one does not live forever.
        let server = try start(
            openssl,
            "s_server -accept 127.0.0.1:0 -naccept 20 \(options) -cert certificate.pem -key key.pem",
            in: folder
        )
        let result: Result<Void, any Error>
        do {
            // From this line on connections are taken: `ACCEPT 127.0.0.1:port`.
            let line = await server.lines.first { $0.hasPrefix("ACCEPT") }
            guard let port = line?.split(separator: ":").last.flatMap({ Int($0) }) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            result = .success(try await body(UntrustedTlsServer(port: port, folder: folder)))
        } catch {
            result = .failure(error)
        }
        await server.kill()
        try result.get()
    }

    private static func makeCertificate(with openssl: URL, in folder: URL) async throws {
        for command in [
            "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 1 -subj /CN=127.0.0.1 "
                + "-addext subjectAltName=IP:127.0.0.1",
            "rsa -in key.pem -pubout -outform DER -out public",
            "dgst -sha256 -binary -out hash public",
        ] {
            guard try await start(openssl, command, in: folder).ending().code == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
    }

    private static func start(_ openssl: URL, _ command: String, in folder: URL) throws -> ChildProcess {
        let process = try ChildProcess(openssl, command.split(separator: " ").map(String.init), folder: folder)
        process.closeInput()
        return process
    }
}
