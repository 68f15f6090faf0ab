import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

extension TestKit {
    @Suite("ScriptedTransport, time, bodies and records")
    struct ScriptedTransportRecordTests {
        let clock = ManualClock()

        @Test("a delay sleeps on the transport's clock, and the record has both instants")
        func delay() async throws {
            let transport = ScriptedTransport(
                .delay(.seconds(2), then: .delay(.seconds(1), then: .status(204))),
                clock: clock
            )
            clock.advance(by: .seconds(10))
            async let response = transport.get("/")
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(2))
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
            #expect(try await response.status == 204)
            #expect(transport.attempts.map(\.start) == [.seconds(10)])
            #expect(transport.attempts.map(\.end) == [.seconds(13)])
            #expect(clock.sleeps == [.seconds(2), .seconds(1)])
        }

        @Test("cancelling ends an attempt at once, in a delay, a hang or a responder", arguments: Silence.allCases)
        func cancellation(silence: Silence) async throws {
            let transport = ScriptedTransport(silence.reply(on: clock), clock: clock)
            let attempt = Task { try await transport.get("/") }
            try await transport.waitForAttempts(count: 1)
            #expect(transport.inFlightCount == 1)
            #expect(transport.attempts.map(\.outcome.description) == ["in flight"])
            attempt.cancel()
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(transport.attempts.map(\.outcome.description) == ["cancelled"])
            #expect(transport.attempts.map(\.end) == [.zero])
            #expect(transport.inFlightCount == 0)
            #expect(clock.sleeperCount == 0)
        }

        @Test("an attempt that was cancelled before is recorded, and takes no reply of the script")
        func cancelledBefore() async throws {
            let transport = ScriptedTransport(.status(200))
            let attempt = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.get("/")
            }
            await #expect(throws: CancellationError.self) { try await attempt.value }
            #expect(transport.attempts.map(\.outcome.description) == ["cancelled"])
            #expect(try await transport.get("/").status == 200)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("waiting for attempts can be cancelled, before and while it waits")
        func waitingForAttempts() async throws {
            let transport = ScriptedTransport()
            let outcomes = try await Simulation().run { simulation in
                let before = simulation.task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await transport.waitForAttempts(count: 1)
                }
                let meanwhile = simulation.task { try await transport.waitForAttempts(count: 1) }
                await simulation.settle()
                meanwhile.cancel()
                return [await before.result, await meanwhile.result]
            }
            for outcome in outcomes { #expect(throws: CancellationError.self) { try outcome.get() } }
        }

        @Test("bodies are read as a real transport reads them, and recorded")
        func bodies() async throws {
            let transport = ScriptedTransport { request, _ in
                guard case .data(let data) = request.body else { return .status(204) }
                return .reply(body: data)
            }
            let chunks = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("one".utf8))
                continuation.yield(Data("two".utf8))
                continuation.finish()
            }
            let payload = try HttpBody.stream(chunks).payload { JSONEncoder() }
            let echo = try await transport.send("/", method: .put, body: payload)
            #expect(echo.body == Data("onetwo".utf8))
            #expect(!payload.isReplayable)
            await #expect(throws: HttpBodyStream.ReadError.alreadyRead) {
                try await transport.send("/", method: .put, body: payload)
            }
            _ = try await transport.send("/", method: .put, body: .data(Data("three".utf8)))
            _ = try await transport.get("/")
            #expect(transport.attempts.map(\.body) == [Data("onetwo".utf8), nil, Data("three".utf8), nil])
        }

        @Test("no description of a record shows a secret")
        func redaction() async throws {
            let transport = ScriptedTransport(clock: ManualClock()) { _, _ in throw Leaky() }
            _ = try? await transport.send(
                "/notes?key=SECRET",
                method: .post,
                header: [.authorization: "Bearer SECRET"],
                body: .data(Data("SECRET".utf8))
            )
            let record = try #require(transport.attempts.first)
            var dumped = ""
            dump(record, to: &dumped)
            dump(record.outcome, to: &dumped)
            dump(transport, to: &dumped)
            for text in ["\(record)", String(reflecting: record), dumped, "\(record.outcome)", "\(transport)"] {
                #expect(!text.contains("SECRET"))
            }
            #expect("\(transport)" == "ScriptedTransport: 1 attempts, 0 in flight")
            #expect("\(record)" == "attempt 1: POST https://api.example.com/notes?… at 0 ms: failed, Leaky")
            #expect(record.header[.authorization] == "Bearer SECRET")
            #expect(record.request.url.query == "key=SECRET")
        }
    }
}

/// The ways in which a server says nothing.
enum Silence: CaseIterable {
    case delay, hang, delayedHang, responder

    func reply(on clock: ManualClock) -> ScriptedReply {
        switch self {
        case .delay: .delay(.seconds(60), then: .status(200))
        case .hang: .hang
        case .delayedHang: .delay(.zero, then: .hang)
        case .responder:
            .respond { _, _ in
                try await clock.sleep(for: .seconds(60))
                return .status(200)
            }
        }
    }
}

private struct Leaky: Error, CustomStringConvertible {
    let description = "SECRET"
}
