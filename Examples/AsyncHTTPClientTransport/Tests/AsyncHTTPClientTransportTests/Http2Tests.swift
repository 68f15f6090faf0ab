import AsyncHTTPClientTransport
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Nautilus
import ScriptedSockets
import Testing

@Suite("HTTP/2 over TLS", .timeLimit(.minutes(10)))
struct Http2Tests {
    @Test(
        "exchanges at once share one connection, whole and streamed, with a body and without",
        .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
    )
    func shared() async throws {
        try await UntrustedTlsServer.run { identity in
            let roots = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate))
            let transport = AsyncHTTPClientTransport(
                configuration: .init {
                    $0.tlsConfiguration = .makeClientConfiguration()
                    $0.tlsConfiguration?.trustRoots = .certificates(roots)
                }
            )
            let server = try await Self.serve(identity)
            let port = try #require(server.localAddress?.port)
            let url = try #require(URL(string: "https://127.0.0.1:\(port)/"))
            // Until a server has answered, the client makes a connection for each exchange.
            let first = try await send(.get, url, through: transport).text
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await send(.get, url, through: transport).text }
                    group.addTask {
                        try await send(.post, url, body: .data(Data("body".utf8)), through: transport).text
                    }
                    group.addTask { try await stream(.get, url, through: transport).body.text }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: first, count: 30))
            try await server.close()
        }
    }

    /// A server that speaks HTTP/2 alone.
    private static func serve(_ identity: UntrustedTlsServer) async throws -> any Channel {
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key), format: .pem))
        )
        settings.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: settings)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    try handlers.addHandler(NIOSSLServerHandler(context: context))
                    _ = try handlers.configureHTTP2Pipeline(
                        mode: .server,
                        connectionConfiguration: .init(),
                        streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandlers(
                                HTTP2FramePayloadToHTTP1ServerCodec(),
                                ConnectionNamer()
                            )
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }
}

/// Answers each request with the client's port, which tells the connection.
private final class ConnectionNamer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let port = context.channel.parent?.remoteAddress?.port ?? 0
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http2, status: .ok))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "\(port)")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
