import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("Feeds that end with the module's own error")
struct FeedErrorTests {
    private enum ShopError: Error, Equatable {
        case gone(FailureKind)
    }

    private struct Shop: HttpService {
        var apiUrl: any UrlConvertible { "shop.test" }
        var transport: any HttpTransport
        var webSocketTransport: any WebSocketTransport = ScriptedWebSocketTransport(.decline(404))

        func mapError(_ error: HttpError) -> ShopError { .gone(error.kind) }
    }

    private struct Status: Request {
        typealias Result = String
        var route: HttpRoute { ["status"] }
    }

    private struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { ["chat"] }
    }

    /// Compiles only if the error of events is known by its type.
    private func firstEvent(_ shop: Shop, limit: Int = 1_024) async throws(ShopError) -> String? {
        var events = Status().events(with: shop, limit: limit).makeAsyncIterator()
        return try await events.next()?.data
    }

    @Test("events: a refusal, an event that is too large, and a reader that is cancelled")
    func events() async throws {
        let refusal = Shop(transport: ScriptedTransport(.status(404)))
        await #expect(throws: ShopError.gone(.status(404))) { try await firstEvent(refusal) }
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let large = Shop(transport: ScriptedTransport(.reply(header: header, text: "data: 0123456789\n\n")))
        await #expect(throws: ShopError.gone(.custom)) { try await firstEvent(large, limit: 8) }
        let silent = ScriptedTransport(.hang)
        let reading = Task { try await firstEvent(Shop(transport: silent)) }
        try await silent.waitForAttempts(count: 1)
        reading.cancel()
        await #expect(throws: ShopError.gone(.cancelled)) { try await reading.value }
    }

    /// Compiles only if the error of messages is known by its type.
    private func echo(_ chat: MessageStream<Chat, ShopError>) async throws(ShopError) -> String? {
        try await chat.send("hello")
        try await chat.ping()
        var messages = chat.makeAsyncIterator()
        return try await messages.next()
    }

    @Test("messages: a socket that breaks off, and one that is closed")
    func messages() async throws {
        let sockets = ScriptedWebSocketTransport(.accept { $0.drop() })
        let shop = Shop(transport: ScriptedTransport(), webSocketTransport: sockets)
        let chat = try await Chat().schedule(with: shop)
        await #expect(throws: ShopError.self) { try await echo(chat) }
        await chat.close()
        await #expect(throws: ShopError.self) { try await chat.send("late") }
    }
}
