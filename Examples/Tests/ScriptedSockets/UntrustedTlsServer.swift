import Dispatch
import Foundation

/// A TLS server whose certificate nobody trusts, made on the spot by `openssl`.
public final class UntrustedTlsServer: Sendable {
    /// The port on 127.0.0.1, chosen by the system.
    public let port: Int
    /// Its certificate, in PEM: a root for who wants to trust it after all, and a client's as well.
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
        let (process, port) = try await blocking {
            try makeCertificate(with: openssl, in: folder)
            return try start(openssl, options, in: folder)
        }
        do {
            try await body(UntrustedTlsServer(port: port, folder: folder))
            try await blocking { end(process) }
        } catch {
            try await blocking { end(process) }
            throw error
        }
    }

    /// Waits for a process on a thread that may block: those of Swift's pool are as few as the cores.
    private static func blocking<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }

    private static func makeCertificate(with openssl: URL, in folder: URL) throws {
        try finish(
            openssl,
            "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem -days 1 -subj /CN=127.0.0.1 "
                + "-addext subjectAltName=IP:127.0.0.1",
            in: folder
        )
        try finish(openssl, "rsa -in key.pem -pubout -outform DER -out public", in: folder)
        try finish(openssl, "dgst -sha256 -binary -out hash public", in: folder)
    }

    private static func finish(_ openssl: URL, _ arguments: String, in folder: URL) throws {
        let process = process(openssl, arguments, in: folder)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    private static func start(_ openssl: URL, _ options: String, in folder: URL) throws -> (Process, port: Int) {
        let process = process(
            openssl,
            // Twenty handshakes at most: should the test process die, this one does not live forever.
            "s_server -accept 127.0.0.1:0 -naccept 20 \(options) -cert certificate.pem -key key.pem",
            in: folder
        )
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        do {
            return try (process, port: announcedPort(in: output.fileHandleForReading))
        } catch {
            end(process)
            throw error
        }
    }

    /// Ends the process for good: a child of a dispatch thread is born with SIGTERM blocked.
    private static func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Reads up to the line `ACCEPT 127.0.0.1:port`, after which connections are taken.
    private static func announcedPort(in output: FileHandle) throws -> Int {
        var text = ""
        while true {
            let data = output.availableData
            guard !data.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
            text += String(decoding: data, as: UTF8.self)
            guard let line = text.components(separatedBy: "\n").dropLast().first(where: { $0.hasPrefix("ACCEPT") })
            else { continue }
            guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            return port
        }
    }

    private static func process(_ openssl: URL, _ arguments: String, in folder: URL) -> Process {
        let process = Process()
        process.executableURL = openssl
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
