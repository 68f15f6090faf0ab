import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusCurl
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A web socket: opened, and messages both ways", .endsInTime)
struct MessageStreamTests: WebSocketSuite {
    let clock = ManualClock()

    @Test(
        "a web socket is opened by a GET to the service's URL, with the scheme of web sockets",
        arguments: [
            ("api.example.com/v1", "wss://api.example.com/v1/chat?room=7"),
            ("https://api.example.com", "wss://api.example.com/chat?room=7"),
            ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/chat?room=7"),
            ("wss://api.example.com", "wss://api.example.com/chat?room=7"),
            ("WS://api.example.com", "ws://api.example.com/chat?room=7"),
        ]
    )
    func opening(base: String, url: String) async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        _ = try await Chat().schedule(with: service(transport, url: base))
        let request = try #require(transport.requests.first)
        #expect(request.method == .get)
        #expect(request.url.absoluteString == url)
        #expect(request.header[.userAgent] == "Notes/1.0")
        #expect(request.header["Sec-WebSocket-Protocol"] == "v2.chat, v1.chat")
    }

    @Test("interceptors that answer GETs with what they keep, or give one answer to all who ask, have no part in it")
    func notKept() async throws {
        struct Chatter: Request {
            typealias Result = String
            var route: HttpRoute { ["chat"] }
            var query: HttpQuery { ["room": "7"] }
        }
        let sockets = ScriptedWebSocketTransport(.hang, Self.echo)
        let service = AnyHttpService(
            apiUrl: "api.example.com/v1",
            interceptors: [HttpCache(), RequestCoalescing()],
            transport: ScriptedTransport(.reply(header: ["Cache-Control": "max-age=600"], text: "kept"))
        ).with { $0.webSocketTransport = sockets }
        #expect(try await Chatter().schedule(with: service) == "kept")
        let first = Task { try await Chat().schedule(with: service) }
        while sockets.requests.isEmpty { await Task.yield() }
        let second = try await Chat().schedule(with: service)
        try await second.send("a")
        var lines = second.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        first.cancel()
        await #expect(throws: HttpError.self) { _ = try await first.value }
        #expect(sockets.requests.count == 2)
    }

    @Test("messages go both ways, in their order")
    func messages() async throws {
        let chat = try await Chat().schedule(with: service(ScriptedWebSocketTransport(Self.echo)))
        var lines = chat.makeAsyncIterator()
        for text in ["a", "b", "c"] {
            try await chat.send(text)
            #expect(try await lines.next() == text)
        }
    }

    @Test("F12: JSON messages are encoded and decoded; one that does not decode fails alone, and names its request")
    func json() async throws {
        let transport = ScriptedWebSocketTransport(
            .accept { socket in
                try await socket.send(.text("none"))
                while true { try await socket.send(.data(socket.receive().bytes)) }
            }
        )
        let points = try await Points().schedule(with: service(transport))
        var iterator = points.makeAsyncIterator()
        let error = await #expect(throws: HttpError.self) { _ = try await iterator.next() }
        #expect((error?.kind, error?.request?.description) == (.decoding, "GET https://api.example.com/v1"))
        try await points.send(Point(x: 3))
        #expect(try await iterator.next() == Point(x: 3))
    }

    @Test("a ping reaches the server and comes back")
    func ping() async throws {
        let transport = ScriptedWebSocketTransport(Self.echo)
        let chat = try await Chat().schedule(with: service(transport))
        try await chat.ping()
        #expect(transport.sockets.map(\.pingCount) == [1])
    }

    @Test("a rejected credential is refreshed once, and the socket opened with the new one")
    func refresh() async throws {
        let refreshes = Locked(0)
        let coordinator = RefreshCoordinator(credential: Token(number: 1)) { _ in
            refreshes.withLock { $0 += 1 }
            return Token(number: 2)
        }
        let transport = ScriptedWebSocketTransport(.decline(401), Self.echo)
        let service = service(transport, retrierFactory: AuthorizationRetrier.factory(coordinator))
        let chat = try await Chat().schedule(with: service)
        #expect(refreshes.withLock { $0 } == 1)
        #expect(transport.requests.map { $0.header[.authorization] } == ["Bearer token-1", "Bearer token-2"])
        try await chat.send("a")
    }

    @Test("an opening that fails for a while is repeated; one that is refused is an error")
    func retries() async throws {
        let transport = ScriptedWebSocketTransport(.fail(.cannotConnectToHost), .decline(503), Self.echo)
        _ = try await Chat().schedule(with: service(transport))
        #expect(transport.requests.count == 3)
        let refusing = ScriptedWebSocketTransport(.decline(403))
        let error = await error { _ = try await Chat().schedule(with: service(refusing)) }
        #expect(error?.status == 403)
    }

    @Test("on a platform without web sockets, the error says why, and what to do")
    func unavailable() async throws {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            transport: ScriptedTransport()
        ).with { $0.webSocketTransport = WebSocketsUnavailable(reason: "there is no libcurl.so.4") }
        let error = await error { _ = try await Chat().schedule(with: service) }
        #expect(error?.underlying is WebSocketsUnavailable)
        let text = "\(try #require(error))"
        #expect(text.contains("webSocketTransport"))
        #expect(text.contains("there is no libcurl.so.4"))
    }

    #if os(Linux)
        @Test("on Linux libcurl opens the web sockets of a service that names no other transport, where there is one")
        func platform() throws {
            let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport())
            if let reason = CurlTransport.unavailability {
                #expect((service.webSocketTransport as? WebSocketsUnavailable)?.reason == reason)
            } else {
                #expect(service.webSocketTransport is CurlWebSocketTransport)
            }
        }
    #endif
}
