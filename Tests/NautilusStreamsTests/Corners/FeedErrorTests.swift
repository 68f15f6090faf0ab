import Foundation
import Nautilus
import NautilusStreams
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
        var coders: JsonCoders { .standard.with { $0.keys = .snakeCase } }

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
        await #expect(throws: ShopError.gone(.decoding)) { try await firstEvent(large, limit: 8) }
        let silent = ScriptedTransport(.hang)
        let reading = Task { try await firstEvent(Shop(transport: silent)) }
        try await silent.waitForAttempts(count: 1)
        reading.cancel()
        await #expect(throws: ShopError.gone(.cancelled)) { try await reading.value }
    }

    private struct Stock: Decodable, Equatable, Sendable {
        let itemId: Int
    }

    /// Compiles only if the error of values is known by its type.
    private func next(
        _ values: inout ServerSentEventValues<Stock, ShopError>.AsyncIterator
    ) async throws(ShopError) -> Stock? {
        try await values.next()
    }

    @Test("values: by the service's coders, of one type of event, and what does not decode is skipped once thrown")
    func values() async throws {
        let text = """
            event: stock\ndata: {"item_id": 1}\n\n\
            data: of another type\n\n\
            event: stock\ndata: {}\n\n\
            event: stock\ndata: {"item_id": 2}\n\n
            """
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let shop = Shop(transport: ScriptedTransport(.reply(header: header, text: text), .status(500)))
        var values = Status().events(with: shop).values(of: Stock.self, from: "stock").makeAsyncIterator()
        #expect(try await next(&values) == Stock(itemId: 1))
        await #expect(throws: ShopError.gone(.decoding)) { try await next(&values) }
        #expect(try await next(&values) == Stock(itemId: 2))
        // The end of the events is that of the values, with the same error.
        await #expect(throws: ShopError.gone(.transport(.networkConnectionLost))) { try await next(&values) }
        #expect(try await next(&values) == nil)
    }

    @Test("values: of all events where no type is named")
    func valuesOfAll() async throws {
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let transport = ScriptedTransport(.reply(header: header, text: "data: 1\n\nevent: b\ndata: 2\n\n"))
        var values = Status().events(with: Shop(transport: transport)).values(of: Int.self).makeAsyncIterator()
        #expect(try await values.next() == 1)
        #expect(try await values.next() == 2)
    }

    @Test("an event that does not decode is the failure of the request that asked for it")
    func valueOfRequest() async throws {
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let transport = ScriptedTransport(.reply(header: header, text: "data: {}\n\n"))
        let service = AnyHttpService<HttpError>(apiUrl: "api.example.com", transport: transport)
        var values = Status().events(with: service).values(of: Stock.self).makeAsyncIterator()
        let error = await #expect(throws: HttpError.self) { try await values.next() }
        #expect(error?.call.request == "Status")
        #expect(error.map(String.init(describing:))?.hasPrefix("GET https://api.example.com/status failed: ") == true)
    }

    @Test("values of several types, made event by event; nil skips one, and an error is the service's")
    func valuesOfSeveral() async throws {
        let text = """
            event: stock\ndata: {"item_id": 1}\n\n\
            event: other\ndata: 0\n\n\
            event: price\ndata: none\n\n\
            event: price\ndata: 3\n\n
            """
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let transport = ScriptedTransport(.reply(header: header, text: text))
        var values = Status().events(with: Shop(transport: transport)).values { event -> Int? in
            switch event.type {
            case "stock": try event.decode(as: Stock.self).itemId
            case "price": try event.decode(as: Int.self)
            default: nil
            }
        }.makeAsyncIterator()
        #expect(try await values.next() == 1)
        await #expect(throws: ShopError.gone(.decoding)) { try await values.next() }
        #expect(try await values.next() == 3)
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
