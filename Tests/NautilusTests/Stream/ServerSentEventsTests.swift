import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("Server-sent events over several connections")
struct ServerSentEventsTests {
    private let clock = ManualClock()
    private static let broken = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")

    private func service(
        _ transport: ScriptedTransport,
        retries: Int = 2,
        on clock: ManualClock? = nil
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(
                backoff: .constant(.zero),
                maxAttempts: retries + 1,
                budget: .unlimited
            ),
            transport: transport,
            clock: clock ?? self.clock
        )
    }

    private static func events(_ text: String, endingWith error: (any Error)? = nil) -> ScriptedReply {
        .chunks(header: ["Content-Type": "text/event-stream; charset=utf-8"], [Data(text.utf8)], endingWith: error)
    }

    private func data(
        _ transport: ScriptedTransport,
        retries: Int = 2,
        on clock: ManualClock? = nil
    ) async throws -> [String] {
        var data: [String] = []
        let service = service(transport, retries: retries, on: clock)
        for try await event in Call.get.events(with: service) { data.append(event.data) }
        return data
    }

    @Test("after an end or a break the next connection continues with the last identifier, until 204")
    func reconnects() async throws {
        let transport = ScriptedTransport(
            Self.events("id: 1\ndata: a\n\ndata: half"),
            Self.events("id: 2\ndata: b\n\n", endingWith: Self.broken),
            .status(503),
            Self.events("data: c\n\n"),
            .status(204)
        )
        #expect(try await data(transport) == ["a", "b", "c"])
        #expect(transport.attempts.map { $0.header["Last-Event-ID"] } == [nil, "1", "2", "2", "2"])
        #expect(transport.attempts.map { $0.header[.accept] } == Array(repeating: "text/event-stream", count: 5))
    }

    @Test("a first identifier is told to the server")
    func continued() async throws {
        let transport = ScriptedTransport(.status(204))
        for try await _ in Call.get.events(with: service(transport), after: "7") {}
        #expect(transport.attempts[0].header["Last-Event-ID"] == "7")
    }

    @Test("the server's delay is waited for, where it is longer than the retrier's")
    func delay() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                Self.events("retry: 4000\ndata: a\n\n"),
                Self.events("data: b\n\n"),
                .status(204),
                clock: simulation.clock
            )
            let data = try await data(transport, on: simulation.clock)
            #expect(data == ["a", "b"])
            #expect(transport.attempts.map(\.start) == [.zero, .seconds(4), .seconds(8)])
        }
    }

    @Test("connections without an event are counted by the retrier; with each event it begins anew")
    func counted() async throws {
        let ended = ScriptedTransport(Self.events("data: a\n\n"), Self.events(""), Self.events(": no event\n\n"))
        #expect(try await data(ended) == ["a"])
        #expect(ended.count == 3)

        let transport = ScriptedTransport(
            Self.events("data: a\n\n", endingWith: Self.broken),
            Self.events("", endingWith: Self.broken),
            Self.events("", endingWith: Self.broken)
        )
        let error = await #expect(throws: HttpError.self) { try await data(transport) }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(transport.count == 3)
    }

    @Test("without a retrier one connection is read, and its break is the error")
    func withoutRetrier() async throws {
        let whole = ScriptedTransport(Self.events("data: a\n\n"))
        let service = AnyHttpService(apiUrl: "a.com", transport: whole)
        var count = 0
        for try await _ in Call.get.events(with: service) { count += 1 }
        #expect(count == 1)
        let broken = AnyHttpService(
            apiUrl: "a.com",
            transport: ScriptedTransport(Self.events("", endingWith: Self.broken))
        )
        await #expect(throws: HttpError.self) { for try await _ in Call.get.events(with: broken) {} }
    }

    @Test(
        "what the retrier fails with ends the sequence: it is asked once, and its error is mapped once",
        arguments: [nil, broken]
    )
    func failed(end: TransportError?) async throws {
        let transport = ScriptedTransport(Self.events("data: a\n\n", endingWith: end), .status(204))
        let (asked, mapped) = (Locked(0), Locked(0))
        let service = MappingService(
            retrierFactory: AnyRetrierFactory { _ in FailsFirst(asked: asked) },
            transport: transport,
            mapped: mapped
        )
        let error = await #expect(throws: HttpError.self) {
            for try await _ in Call.get.events(with: service) {}
        }
        #expect(error?.kind == .custom)
        #expect(asked.withLock { $0 } == 1)
        #expect(mapped.withLock { $0 } == 1)
        #expect(transport.count == 1)
    }

    @Test("an answer that is no event stream, or no success, ends the sequence with the call's error")
    func refused() async throws {
        let page = ScriptedTransport(.chunks(header: ["Content-Type": "text/html"], [Data("data: a\n\n".utf8)]))
        let error = await #expect(throws: HttpError.self) { try await data(page) }
        #expect(error?.underlying as? NoEventStream == NoEventStream(contentType: "text/html"))
        let missing = await #expect(throws: HttpError.self) { try await data(ScriptedTransport(.status(404))) }
        #expect(missing?.kind == .status(404))
        let created = await #expect(throws: HttpError.self) { try await data(ScriptedTransport(.status(201))) }
        #expect(created?.kind == .status(201))
    }

    @Test("cancelled while it waits for a connection or for an event, it ends at once", arguments: [false, true])
    func cancelled(isConnected: Bool) async throws {
        let reply = ScriptedReply.chunks(
            header: ["Content-Type": "text/event-stream"],
            [Data("data: b\n\n".utf8)],
            pause: .seconds(1)
        )
        let transport = ScriptedTransport(
            isConnected ? reply : Self.events("retry: 4000\ndata: a\n\n"),
            clock: clock
        )
        let reading = Task { try await data(transport) }
        try await clock.waitForSleepers(count: 1)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(transport.count == 1)
    }
}

/// Overrules the first end that it is asked about with an error of its own, and wants another connection after that.
private struct FailsFirst: Retrier {
    let asked: Locked<Int>

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        let count = asked.withLock { asked in
            asked += 1
            return asked
        }
        return count == 1 ? .fail(with: HttpError(.custom, stage: .send)) : .retry(after: .zero)
    }
}

/// Counts the errors that it is asked to map.
private struct MappingService: HttpService {
    let apiUrl: any UrlConvertible = "a.com"
    let retrierFactory: any RetrierFactory
    let transport: any HttpTransport
    let mapped: Locked<Int>

    func mapError(_ error: HttpError) -> HttpError {
        mapped.withLock { $0 += 1 }
        return error
    }
}
