import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A compressed feed that breaks off", .endsInTime)
struct FeedCutTests {
    private static let header: HttpHeader = [.contentType: "text/event-stream"]

    private static func events(_ text: String, endingWith error: TransportError? = nil) -> ScriptedReply {
        .chunks(header: header, [Data(text.utf8)], endingWith: error)
    }

    private func service(_ transport: ScriptedTransport, _ clock: ManualClock) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(),
            transport: transport,
            clock: clock
        )
    }

    @Test("the end of a server cuts its compressed stream, and the feed goes on behind the last event")
    func cut() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                Self.events("id: 1\ndata: a\n\n", endingWith: TransportError(.cannotDecodeContentData)),
                Self.events("id: 2\ndata: b\n\n"),
                clock: simulation.clock
            )
            var events = Ping.get.events(with: service(transport, simulation.clock)).makeAsyncIterator()
            let (first, second) = (try await events.next(), try await events.next())
            #expect(first?.data == "a" && second?.data == "b")
            #expect(transport.attempts.map { $0.request.header[.lastEventId] } == [nil, "1"])
        }
    }

    @Test("a compressed stream that cannot be read from its beginning ends the feed")
    func damaged() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                Self.events("id: 1\ndata: a\n\n"),
                Self.events("", endingWith: TransportError(.cannotDecodeContentData)),
                clock: simulation.clock
            )
            var events = Ping.get.events(with: service(transport, simulation.clock)).makeAsyncIterator()
            _ = try await events.next()
            let error = await #expect(throws: HttpError.self) { try await events.next() }
            #expect(error?.kind == .transport(.cannotDecodeContentData))
        }
    }
}
