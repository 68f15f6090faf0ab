import Foundation
import Nautilus
import NautilusStreams
import NautilusTesting
import Testing

@Suite("The media type of a feed")
struct FeedTypeTests {
    private struct Feed: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { ["feed"] }
    }

    private static func first(_ types: [String]) async throws(HttpError) -> String? {
        var header: HttpHeader = [:]
        for type in types { header.add(type, to: .contentType) }
        let body = Data("data: é\n\n".utf8)
        let service = AnyHttpService(apiUrl: "a.com", transport: ScriptedTransport(.reply(header: header, body: body)))
        var events = Feed().events(with: service).makeAsyncIterator()
        return try await events.next()?.data
    }

    @Test(
        "F12a: a feed is read whatever its parameters are, and by the last valid of several types; it is UTF-8",
        arguments: [
            ["text/event-stream;charset"], ["text/event-stream; charset="], ["text/event-stream;x bogus"],
            ["text/event-stream; x=\"unclosed"], ["text/event-stream; charset=iso-8859-1"],
            ["text/event-stream", "text/event-stream"], ["text/event-stream, text/event-stream"],
            ["text/html", "text/event-stream"], ["text/event-stream", "nonsense"],
        ]
    )
    func isRead(types: [String]) async throws {
        #expect(try await Self.first(types) == "é")
    }

    @Test(
        "F12a: an answer of another type, or of no valid type, is no feed",
        arguments: [["text/event-stream", "text/html"], ["x"], []]
    )
    func isNone(types: [String]) async throws {
        let error = await #expect(throws: HttpError.self) { try await Self.first(types) }
        #expect(error?.underlying is ServerSentEvent.NoStream)
    }

    @Test("F12: an event whose data is no value is the failure of the request that brought it, with its status")
    func value() async throws {
        let header: HttpHeader = [.contentType: "text/event-stream"]
        let transport = ScriptedTransport(.reply(header: header, text: "data: x\n\n"))
        let service = AnyHttpService<HttpError>(apiUrl: "a.com", transport: transport)
        var values = Feed().events(with: service).values(of: Int.self).makeAsyncIterator()
        let error = await #expect(throws: HttpError.self) { try await values.next() }
        #expect(error?.request?.description == "GET https://a.com/feed")
        #expect((error?.kind, error?.status, error?.call.request) == (.decoding, 200, "Feed"))
    }
}
