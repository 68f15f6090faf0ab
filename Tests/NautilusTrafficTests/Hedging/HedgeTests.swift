import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The second send of a slow attempt")
struct HedgeTests {
    private static let delay = Duration.milliseconds(100)

    @Test("a request is hedged if its answer comes a nanosecond after the delay, not one before it")
    func boundary() async throws {
        let quick = try await hedged(.get, .delay(.nanoseconds(99_999_999), then: .reply(text: "first")))
        #expect(quick.outcome.response?.body == "first")
        #expect(quick.ends == ["200"])
        #expect(quick.hedge == nil)

        let slow = try await hedged(.get, .delay(.nanoseconds(100_000_001), then: .reply(text: "first")), .hang)
        #expect(slow.outcome.response?.body == "first")
        #expect(slow.outcome.end == .nanoseconds(100_000_001))
        #expect(slow.ends == ["200", "cancelled"])
        #expect(slow.sends.map(\.start) == [.zero, Self.delay])
        #expect(slow.hedge == .sent(after: Self.delay, winner: .first))
    }

    @Test("the second answer wins when it comes first, and the first send is cancelled then")
    func secondWins() async throws {
        let call = try await hedged(.get, .hang, .ok("second", after: 20))
        #expect(call.outcome.response?.body == "second")
        #expect(call.outcome.end == .milliseconds(120))
        #expect(call.ends == ["cancelled", "200"])
        #expect(call.sends.map(\.end) == [.milliseconds(120), .milliseconds(120)])
        #expect(call.outcome.attempts == 1)
        #expect(call.hedge == .sent(after: Self.delay, winner: .second))
    }

    @Test("both sends of a hedged attempt are the same request, each authorized anew")
    func sameRequest() async throws {
        let asked = Counter()
        let credential = WrittenCredential { $0.header["Authorization"] = "Bearer token-\(asked.increment())" }
        let call = try await hedged(
            .keyedPost,
            .hang,
            .ok(after: 20),
            retrier: AnyRetrierFactory.authorizing(with: credential)
        )
        #expect(call.ends == ["cancelled", "200"])
        #expect(call.sends.map { $0.header["Authorization"] } == ["Bearer token-1", "Bearer token-2"])
        #expect(call.sends.map { $0.header["Idempotency-Key"] } == ["key-1", "key-1"])
        #expect(call.sends.map(\.body) == [Data("payload".utf8), Data("payload".utf8)])
        #expect(call.sends.map(\.context.number) == [1, 1])
    }

    @Test(
        "a failure of one waits for the other",
        arguments: [
            ([.status(503, after: 150), .ok("second", after: 100)], "second", 200),
            ([.lost(after: 150), .ok("second", after: 100)], "second", 200),
            ([.ok("first", after: 200), .status(503, after: 10)], "first", 200),
            ([.ok("first", after: 200), .lost(after: 10)], "first", 200),
            ([.ok("first", after: 200), .status(429, after: 10)], "first", 200),
        ] as [([ScriptedReply], String, Int)]
    )
    func oneFails(replies: [ScriptedReply], body: String, end: Int) async throws {
        let call = try await hedged(.get, replies[0], replies[1])
        #expect(call.outcome.response?.body == body)
        #expect(call.outcome.end == .milliseconds(end))
        #expect(call.hedge == .sent(after: Self.delay, winner: body == "first" ? .first : .second))
        #expect(!call.ends.contains("cancelled"))
    }

    @Test(
        "when both fail, the first failure is the attempt's, unless the server has said more to the second",
        arguments: [
            (.status(503, after: 150), .status(500, after: 10), .status(503), 150),
            (.status(503, after: 150), .status(500, after: 90), .status(503), 190),
            (.lost(after: 150), .lost(after: 10), .transport(.networkConnectionLost), 150),
            (.status(503, after: 150), .lost(after: 10), .status(503), 150),
            (.lost(after: 150), .status(500, after: 10), .status(500), 150),
            (.status(503, after: 150), .status(429, after: 10, header: ["Retry-After": "5"]), .status(429), 150),
            (
                .status(503, after: 150, header: ["Retry-After": "5"]),
                .status(429, after: 10, header: ["Retry-After": "5"]), .status(503), 150
            ),
        ] as [(ScriptedReply, ScriptedReply, FailureKind, Int)]
    )
    func bothFail(first: ScriptedReply, second: ScriptedReply, kind: FailureKind, end: Int) async throws {
        let call = try await hedged(.get, first, second)
        #expect(call.outcome.error?.kind == kind)
        #expect(call.outcome.end == .milliseconds(end))
        #expect(call.hedge == .sent(after: Self.delay, winner: nil))
        #expect(call.sends.count == 2)
    }

    @Test("an answer that the other send would get as well wins for a request that only reads", arguments: [404, 401])
    func final(status: Int) async throws {
        let pairs: [(ScriptedReply, ScriptedReply)] = [
            (.status(status, after: 150), .hang), (.hang, .status(status, after: 50)),
        ]
        for (first, second) in pairs {
            let call = try await hedged(.get, first, second)
            #expect(call.outcome.error?.kind == .status(status))
            #expect(call.outcome.end == .milliseconds(150))
            #expect(call.ends.sorted() == ["\(status)", "cancelled"])
        }
    }

    @Test("a DELETE that was overtaken by its own second send is not told that there is nothing to delete")
    func overtaken() async throws {
        let call = try await hedged(Ping(method: .delete), .status(404, after: 150), .ok(after: 100))
        #expect(call.outcome.response?.body == "ok")
        #expect(call.outcome.end == .milliseconds(200))
    }

    @Test("a POST whose second send meets the first, still in progress, waits for that")
    func inProgress() async throws {
        let call = try await hedged(.keyedPost, .ok("created", after: 300), .status(409, after: 10))
        #expect(call.outcome.response?.body == "created")
        #expect(call.outcome.end == .milliseconds(300))
    }

    @Test("a failure before the delay is the retrier's, and each attempt has its own hedge")
    func failsBefore() async throws {
        let call = try await hedged(
            .get,
            .status(503, after: 50),
            .hang,
            .ok(after: 10),
            retrier: steadyBackoff()
        )
        #expect(call.ends == ["503", "cancelled", "200"])
        #expect(call.outcome.trace.attempts.map(\.hedge) == [nil, .sent(after: Self.delay, winner: .second)])
        #expect(call.outcome.end == .milliseconds(50 + 500 + 100 + 10))
        #expect(call.sends.map(\.context.number) == [1, 2, 2])
    }

    @Test("the caller's cancellation cancels both, once", arguments: 0..<10 as Range<UInt64>)
    func cancelled(seed: UInt64) async throws {
        let call = try await hedged(.get, .hang, .hang, cancelling: .milliseconds(150), seed: seed)
        #expect(call.outcome.error?.kind == .cancelled)
        #expect(call.outcome.error?.delivery == .maybeExecuted)
        #expect(call.outcome.end == .milliseconds(150))
        #expect(call.ends == ["cancelled", "cancelled"])
        #expect(call.sends.map(\.end) == [.milliseconds(150), .milliseconds(150)])
    }

    @Test("a cancellation before the delay leaves nothing to hedge")
    func cancelledBefore() async throws {
        let call = try await hedged(.get, .hang, cancelling: .milliseconds(50))
        #expect(call.outcome.error?.kind == .cancelled)
        #expect(call.ends == ["cancelled"])
        #expect(call.hedge == nil)
    }

    @Test("the timeout covers the whole attempt, from its first send")
    func timeout() async throws {
        let call = try await hedged(Ping(timeout: .milliseconds(150)), .hang, .hang)
        #expect(call.outcome.error?.kind == .timeout(.milliseconds(150)))
        #expect(call.outcome.end == .milliseconds(150))
        #expect(call.ends == ["cancelled", "cancelled"])
        #expect(call.hedge == .sent(after: Self.delay, winner: nil))
    }

    @Test("a timeout that comes first leaves nothing to hedge, to the nanosecond")
    func timeoutFirst() async throws {
        let call = try await hedged(Ping(timeout: Self.delay), .hang)
        #expect(call.outcome.error?.kind == .timeout(Self.delay))
        #expect(call.ends == ["cancelled"])
        #expect(call.hedge == .notSent(.timeoutFirst(Self.delay)))
        let longer = try await hedged(Ping(timeout: Self.delay + .nanoseconds(1)), .hang, .hang)
        #expect(longer.sends.count == 2)
    }

    @Test("the deadline cancels both sends of a hedged attempt")
    func deadline() async throws {
        let call = try await hedged(Ping(deadline: .milliseconds(150)), .hang, .hang)
        #expect(call.outcome.error?.kind == .deadline(.milliseconds(150)))
        #expect(call.outcome.end == .milliseconds(150))
        #expect(call.ends == ["cancelled", "cancelled"])
    }

    @Test("an answer to a send that the timeout has cancelled is not thrown away")
    func lateAnswer() async throws {
        let call = try await hedged(Ping(timeout: .milliseconds(150)), .ok(after: 149), .hang)
        #expect(call.outcome.response?.body == "ok")
    }

    @Test("each send of a hedged attempt follows its own redirects, and the trace has the winner's")
    func redirects() async throws {
        let redirect = ScriptedReply.status(302, header: ["Location": "/elsewhere"])
        let call = try await hedged(.get, redirect, .hang, redirect, .ok("there", after: 30))
        #expect(call.outcome.response?.body == "there")
        #expect(call.outcome.end == .milliseconds(130))
        #expect(call.sends.map { $0.request.url.path } == ["/things", "/elsewhere", "/things", "/elsewhere"])
        #expect(call.ends == ["302", "cancelled", "302", "200"])
    }

    @Test("a hedged attempt is maybeExecuted if either of its sends is")
    func delivery() async throws {
        let timeout = Ping(timeout: .milliseconds(200))
        let first = try await hedged(timeout, .lost(after: 150, delivery: .notSent), .hang)
        #expect(first.outcome.error?.kind == .transport(.networkConnectionLost))
        #expect(first.outcome.error?.delivery == .maybeExecuted)
        let both = try await hedged(.get, .lost(after: 150, delivery: .notSent), .status(429, after: 10))
        #expect(both.outcome.error?.kind == .status(429))
        #expect(both.outcome.error?.delivery == .rejected)
        let neither = try await hedged(
            .get,
            .lost(after: 150, delivery: .notSent),
            .lost(after: 10, delivery: .notSent)
        )
        #expect(neither.outcome.error?.delivery == .notSent)
    }

    @Test("the trace tells of it, printed as well, and so does the observer")
    func trace() async throws {
        let observer = RecordingObserver()
        let call = try await hedged(.get, .hang, .ok(after: 20), observer: observer)
        #expect(
            call.outcome.trace.description == """
                GET https://api.example.com/things: 1 attempt in 120 ms
                  #1  at 0 ms       200 after 120 ms
                      hedged after 100 ms: the first answer came from the second send
                """
        )
        #expect(observer.traces.flatMap(\.attempts).compactMap(\.hedge).count == 1)
    }

    @Test("without hedging a slow attempt is sent once, and the trace is silent")
    func off() async throws {
        let outcome = try await outcome(of: Ping.get) { ScriptedTransport(.ok(after: 5000), clock: $0) }
        #expect(outcome.response?.body == "ok")
        #expect(outcome.trace.attempts.map(\.hedge) == [nil])
    }

    @Test("F9: a QUERY is hedged, as a GET is")
    func query() async throws {
        let question = Ping(method: .query, body: .data(Data("select".utf8)))
        let call = try await hedged(question, .hang, .ok("found", after: 20))
        #expect(call.outcome.response?.body == "found")
        #expect(call.ends == ["cancelled", "200"])
        #expect(call.sends.map(\.body) == [Data("select".utf8), Data("select".utf8)])
    }
}
