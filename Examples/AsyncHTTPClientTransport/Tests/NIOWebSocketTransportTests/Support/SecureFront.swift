import Dispatch
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Speaks TLS for a server that speaks none: what it hears it hands on, both ways.
final class SecureFront: Sendable {
    /// The port on 127.0.0.1, chosen by the system.
    let port: Int
    /// Its certificate, for `localhost` alone: who trusts it trusts nobody else.
    let certificate: NIOSSLCertificate

    private init(port: Int, certificate: NIOSSLCertificate) {
        (self.port, self.certificate) = (port, certificate)
    }

    /// Where `openssl` is; nil when this machine has none, in which case the tests that need it are to be skipped.
    static let openssl: URL? = ["/usr/bin/openssl", "/usr/local/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    /// Stands before the server at `port` until `body` returns.
    static func run(before port: UInt16, whileOpen body: (SecureFront) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nautilus-wss-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await makeCertificate(in: folder)
        let key = try NIOSSLPrivateKey(file: folder.appendingPathComponent("key.pem").path, format: .pem)
        let file = folder.appendingPathComponent("certificate.pem").path
        let certificates = try NIOSSLCertificate.fromPEMFile(file)
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        let context = try NIOSSLContext(configuration: configuration)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in prepare(channel, context, port: Int(port)) }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        guard let address = listener.localAddress?.port, let certificate = certificates.first else {
            throw CocoaError(.fileReadCorruptFile)
        }
        do {
            try await body(SecureFront(port: address, certificate: certificate))
            try await listener.close()
        } catch {
            try await listener.close()
            throw error
        }
    }

    private static func prepare(_ channel: any Channel, _ context: NIOSSLContext, port: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: channel.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: port)
            .flatMapThrowing { server in
                let operations = channel.pipeline.syncOperations
                try operations.addHandlers(NIOSSLServerHandler(context: context), Handover(to: server))
                try server.pipeline.syncOperations.addHandler(Handover(to: channel))
            }
            .map {
                // Whoever is at the other end may be read from now on.
                channel.eventLoop.execute { channel.setOption(.autoRead, value: true).whenComplete { _ in } }
            }
    }

    private static func makeCertificate(in folder: URL) async throws {
        guard let openssl else { throw CocoaError(.fileNoSuchFile) }
        let process = Process()
        process.executableURL = openssl
        process.arguments = [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "certificate.pem", "-days",
            "1",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ]
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // It blocks, which the threads of Swift's pool must not.
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try process.run()
                        process.waitUntilExit()
                        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
                    }
                )
            }
        }
    }
}

/// Hands on to another connection of the same event loop what comes over this one, its end included.
private final class Handover: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) {
        self.other = other
    }

    func channelActive(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: true).whenComplete { _ in }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(Self.unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
