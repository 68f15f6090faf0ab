import Foundation
import Nautilus
import NautilusPages
import NautilusStreams
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("Secrets in dumps and descriptions")
struct SequenceRedactionTests {
    private static let secret = "s3cr3t"

    private struct Numbers: JsonRequest, PaginatedRequest {
        typealias Result = [Int]
        var route: HttpRoute { [] }
        var pagination: Pagination<Self> { .link() }
    }

    private struct Feed: Request {
        typealias Result = HttpBodyStream
        var route: HttpRoute { [] }
    }

    private struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { [] }
        var header: HttpHeader { ["Sec-WebSocket-Protocol": "auth.\(secret)"] }
    }

    private func expectNoSecret(in value: Any, line: Int = #line) {
        var text = ""
        dump(value, to: &text)
        #expect(!"\(value) \(String(reflecting: value)) \(text)".contains(Self.secret), "line \(line)")
    }

    @Test("a bound call, and readers of pages and items")
    func pages() async throws {
        let transport = ScriptedTransport(
            .reply(header: ["Link": "</l?cursor=\(Self.secret)>; rel=\"next\""], text: "[1]"),
            afterLast: .repeat
        )
        let service = AnyHttpService(apiUrl: "api.test/base?key=\(Self.secret)", transport: transport)
        let call = Numbers().bound(to: service)
        _ = try await call.run()
        expectNoSecret(in: call)
        var pages = Numbers().pages(with: service).makeAsyncIterator()
        #expect(try await pages.next()?.body == [1])
        expectNoSecret(in: pages)
        var items = Numbers().items(with: service).makeAsyncIterator()
        #expect(try await items.next() == 1)
        expectNoSecret(in: items)
    }

    @Test("a reader of events, and an open socket")
    func streams() async throws {
        let events = ScriptedReply.chunks(
            header: [.contentType: "text/event-stream"],
            [Data("id: \(Self.secret)\ndata: a\n\n".utf8)]
        )
        let sockets = ScriptedWebSocketTransport(.accept { try await $0.send(.text("hello")) })
        let service = AnyHttpService(apiUrl: "api.test", transport: ScriptedTransport(events)).with {
            $0.webSocketTransport = sockets
        }
        var feed = Feed().events(with: service).makeAsyncIterator()
        #expect(try await feed.next()?.data == "a")
        expectNoSecret(in: feed)
        expectNoSecret(in: try await Chat().schedule(with: service))
    }

    @Test("the partitions of pacing, which may be users' names")
    func partitions() async throws {
        let pacing = Pacing(partition: { _ in Self.secret })
        let transport = ScriptedTransport(.status(204, header: ["RateLimit": "\"a\";r=5;t=60"]))
        let service = AnyHttpService(apiUrl: "api.test", interceptors: [pacing], transport: transport)
        try await AnyRequest(.get, ["things"]).schedule(with: service)
        expectNoSecret(in: pacing)
    }
}
