import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Server-sent events over several connections")
struct ServerSentEventsTests {
    let clock = ManualClock()
    static let broken = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")

    func service(
        _ transport: ScriptedTransport,
        retries: Int = 2,
        on clock: ManualClock? = nil
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = retries + 1
                    $0.budget = .unlimited
                }
            ),
            transport: transport,
            clock: clock ?? self.clock
        )
    }

    static func events(_ text: String, endingWith error: (any Error)? = nil) -> ScriptedReply {
        .chunks(header: ["Content-Type": "text/event-stream; charset=utf-8"], [Data(text.utf8)], endingWith: error)
    }

    func data(
        _ transport: ScriptedTransport,
        on clock: ManualClock? = nil
    ) async throws -> [String] {
        guard clock != nil else { return try await simulate { try await self.data(transport, on: $0.clock) } }
        var data: [String] = []
        let service = service(transport, on: clock)
        for try await event in Ping.get.events(with: service) { data.append(event.data) }
        return data
    }

    @Test("C4: after an end or a break the next connection continues with the last identifier, until 204")
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

    @Test("F12b: each connection asks past the caches on its way, unless the request says otherwise")
    func noCache() async throws {
        let transport = ScriptedTransport(Self.events("data: a\n\n"), .status(503), .status(204))
        _ = try await data(transport)
        #expect(transport.attempts.map { $0.header["Cache-Control"] } == Array(repeating: "no-cache", count: 3))
        let other = ScriptedTransport(.status(204))
        let request = Ping(header: ["Cache-Control": "max-age=5"])
        for try await _ in request.events(with: service(other)) {}
        #expect(other.attempts.map { $0.header["Cache-Control"] } == ["max-age=5"])
    }

    @Test("an identifier of more than 8 KiB is not kept, and the one before is told to the server")
    func longIdentifier() async throws {
        let (longest, longer) = (String(repeating: "x", count: 8_192), String(repeating: "y", count: 8_193))
        let transport = ScriptedTransport(
            Self.events("id: \(longest)\ndata: a\n\n"),
            Self.events("id: \(longer)\ndata: b\n\n"),
            .status(204)
        )
        #expect(try await data(transport) == ["a", "b"])
        #expect(transport.attempts.map { $0.header["Last-Event-ID"] } == [nil, longest, longest])
    }

    @Test(
        "a body that ends as if it had been cancelled, though nobody has, was lost: the next connection follows",
        arguments: [URLError(.cancelled), CancellationError(), TransportError(.cancelled)] as [any Error]
    )
    func cancelledByNobody(error: any Error) async throws {
        let transport = ScriptedTransport(
            Self.events("id: 1\ndata: a\n\n", endingWith: error),
            Self.events("data: b\n\n"),
            .status(204)
        )
        #expect(try await data(transport) == ["a", "b"])
        #expect(transport.attempts.map { $0.header["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test("a first identifier is told to the server")
    func continued() async throws {
        let transport = ScriptedTransport(.status(204))
        for try await _ in Ping.get.events(with: service(transport), after: "7") {}
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

    @Test(
        "connections that have not served count for the reconnect limit, in order or not; an event begins anew",
        arguments: [nil, broken]
    )
    func counted(end: TransportError?) async throws {
        let transport = ScriptedTransport(
            Self.events("", endingWith: end),
            Self.events("data: a\n\n", endingWith: end),
            Self.events(": no event\n\n", endingWith: end),
            Self.events("", endingWith: end),
            afterLast: .repeat
        )
        let events = Locked<[String]>([])
        let error = await #expect(throws: HttpError.self) {
            let service = service(transport, retries: 1)
            for try await event in Ping.get.events(with: service, reconnectLimit: .attempts(2)) {
                events.withLock { $0.append(event.data) }
            }
        }
        #expect(events.withLock { $0 } == ["a"])
        #expect(transport.count == 4)
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(error?.isReconnect == true)
        let reason = error?.trace.attempts.last?.decision?.reason
        #expect(reason == .custom("reconnect limit: 2 connections in a row"))
    }

    @Test(
        "C4: without a retrier one connection is read; its end is the error, in order or not",
        arguments: [nil, broken]
    )
    func withoutRetrier(end: TransportError?) async throws {
        let transport = ScriptedTransport(Self.events("data: a\n\n", endingWith: end))
        let service = AnyHttpService(apiUrl: "a.com", transport: transport)
        var events = Ping.get.events(with: service).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        let error = await #expect(throws: HttpError.self) { _ = try await events.next() }
        #expect(error?.kind == .transport(.networkConnectionLost))
        #expect(error?.isReconnect == true)
        #expect(error?.request?.method == .get)
        #expect(error?.exchange?.status == 200)
        let attempt = try #require(error?.trace.attempts.first)
        #expect(error?.trace.attempts.count == 1)
        #expect(attempt.decision == .init(retrier: "NilRetrier", action: .stop, reason: nil))
        #expect(attempt.outcome == .failed(.send, .transport(.networkConnectionLost), .maybeExecuted))
        #expect(attempt.exchanges.map(\.status) == [200])
        // Nothing follows the error.
        #expect(try await events.next() == nil)
    }

    @Test(
        "C4: a hundred connections that each bring an event and end cost no budget, and follow one another a second apart",
        arguments: [nil, broken]
    )
    func orderly(end: TransportError?) async throws {
        try await simulate { simulation in
            let budget = TokenBucketBudget(capacity: 10, depositOfSuccess: 0)
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                Self.events("data: a\n\n", endingWith: end)
            }
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.milliseconds(500), jitter: .none)
                        $0.maxAttempts = 2
                        $0.budget = .shared(budget)
                    }
                ),
                transport: transport,
                clock: simulation.clock
            )
            try await drawing(0.5, on: simulation.clock) {
                var events = Ping.get.events(with: service).makeAsyncIterator()
                for _ in 0..<100 {
                    let event = try await events.next()
                    #expect(event?.data == "a")
                }
            }
            #expect(budget.balance == 10)
            // Each waits for 0.5 s by its backoff; the pace, which begins half a second late, is slower from the ninth on.
            let starts = transport.attempts.map(\.start)
            #expect(starts.count == 100)
            #expect(starts == (0..<100).map { .milliseconds(max(500 * $0, 1_000 * $0 - 3_500)) })
        }
    }

    @Test("a retrier that never gives up and waits for nothing connects four times at once, and then once a second")
    func ceiling() async throws {
        struct Always: Retrier {
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { true }
        }
        try await simulate { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in Self.events("") }
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: AnyRetrierFactory { Always() },
                transport: transport,
                clock: simulation.clock
            ).with { $0.maxAttempts = 3 }
            await #expect(throws: HttpError.self) {
                try await drawing(0.5, on: simulation.clock) {
                    for try await _ in Ping.get.events(with: service, reconnectLimit: .attempts(100)) {}
                }
            }
            #expect(transport.count == 101)
            #expect(transport.attempts.map(\.start) == (0...100).map { .milliseconds(max(0, 1_000 * $0 - 3_500)) })
        }
    }

    @Test("events that answer a POST come once: their end is the end, their break the error", arguments: [nil, broken])
    func post(end: TransportError?) async throws {
        struct Ask: Request {
            typealias Result = Data
            var route: HttpRoute { [] }
            var method: HttpMethod { .post }
        }
        let transport = ScriptedTransport(Self.events("data: a\n\n", endingWith: end))
        var events = Ask().events(with: service(transport)).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        if end == nil {
            #expect(try await events.next() == nil)
        } else {
            let error = await #expect(throws: HttpError.self) { _ = try await events.next() }
            #expect(error?.trace.attempts.last?.decision?.reason == .mayHaveExecuted)
        }
        #expect(transport.count == 1)
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
            for try await _ in Ping.get.events(with: service) {}
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
        #expect(error?.underlying as? ServerSentEvent.NoStream == .init(contentType: "text/html"))
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
        let reading = Task { try await data(transport, on: clock) }
        try await clock.waitForSleepers(count: 1)
        reading.cancel()
        let error = await #expect(throws: HttpError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
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
