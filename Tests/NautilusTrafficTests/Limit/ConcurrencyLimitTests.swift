import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("ConcurrencyLimit", .endsInTime)
struct ConcurrencyLimitTests {
    private let server = HoldingServer()

    /// Starts a request, and returns once it is at the server, waits, or has ended.
    private func start(
        _ name: String,
        on limit: ConcurrencyLimit,
        priority: HttpRequest.Priority = .normal,
        url: String = "https://api.example.com/things"
    ) async throws -> Task<String, Never> {
        let request = try HttpRequest.test(url, priority: priority)
        let before = (server.names.count, limit.waitingCount(for: trafficOrigin))
        let ended = Locked(false)
        let task = Task {
            let outcome = await limit.outcome(of: request) { try await server.serve(name) }
            ended.withLock { $0 = true }
            return outcome
        }
        while (server.names.count, limit.waitingCount(for: trafficOrigin)) == before, !ended.withLock({ $0 }) {
            await Task.yield()
        }
        return task
    }

    @Test("no more than the limit are under way; the others go one by one as those before them end")
    func limits() async throws {
        let limit = ConcurrencyLimit(2)
        var tasks: [Task<String, Never>] = []
        for name in ["a", "b", "c", "d"] { tasks.append(try await start(name, on: limit)) }
        #expect(server.names == ["a", "b"])
        #expect((limit.underWayCount(to: trafficOrigin), limit.waitingCount(for: trafficOrigin)) == (2, 2))
        await server.answer("b", then: "c")
        #expect(server.names == ["a", "b", "c"])
        await server.answer("a", then: "d")
        #expect(server.names == ["a", "b", "c", "d"])
        await server.answer("c")
        await server.answer("d")
        for task in tasks { #expect(await task.value == "200") }
        #expect((limit.underWayCount(to: trafficOrigin), limit.waitingCount(for: trafficOrigin)) == (0, 0))
    }

    @Test("the most urgent go first, and in the order of their arrival within a priority")
    func priorities() async throws {
        let limit = ConcurrencyLimit(1)
        var tasks = [try await start("first", on: limit)]
        let arrivals: [(String, HttpRequest.Priority)] = [
            ("low 1", .low), ("normal 1", .normal), ("high 1", .high), ("low 2", .low), ("high 2", .high),
            ("normal 2", .normal),
        ]
        for (name, priority) in arrivals { tasks.append(try await start(name, on: limit, priority: priority)) }
        let order = ["first", "high 1", "high 2", "normal 1", "normal 2", "low 1", "low 2"]
        for (name, next) in zip(order, order.dropFirst()) { await server.answer(name, then: next) }
        await server.answer("low 2")
        for task in tasks { #expect(await task.value == "200") }
        #expect(server.names == order)
    }

    @Test("a request fails at once, unsent, when the queue is full", arguments: [0, 1, 3])
    func bound(maxWaiting: Int) async throws {
        let limit = ConcurrencyLimit(1, maxWaiting: maxWaiting)
        for name in 0...maxWaiting { _ = try await start("\(name)", on: limit) }
        let refused = try await start("refused", on: limit)
        #expect(await refused.value == "refused: \(maxWaiting) requests wait already")
        #expect(server.names == ["0"])
        for name in 0...maxWaiting { await server.answer("\(name)", then: name < maxWaiting ? "\(name + 1)" : nil) }
    }

    @Test("the refusal of a call says that nothing was sent, and is not retried")
    func refusal() async throws {
        let limit = ConcurrencyLimit(1, maxWaiting: 0)
        _ = try await start("first", on: limit)
        let transport = ScriptedTransport()
        let outcome = try await outcome(of: Ping.post, interceptors: [limit], transport)
        #expect(outcome.error?.kind == .refused(.tooManyWaiting(limit: 0)))
        #expect((outcome.error?.delivery, outcome.error?.retryAfter) == (.notSent, nil))
        #expect(outcome.lastReason == .notRetryable("not sent: 0 requests wait already"))
        #expect((outcome.attempts, transport.count) == (1, 0))
        await server.answer("first")
    }

    @Test("a request cancelled while it queues for a slot leaves at once, and the next one moves up")
    func cancelledWaiter() async throws {
        let limit = ConcurrencyLimit(1, maxWaiting: 2)
        _ = try await start("first", on: limit)
        let waiter = try await start("cancelled", on: limit)
        _ = try await start("second", on: limit)
        waiter.cancel()
        #expect(await waiter.value == "cancelled")
        #expect(limit.waitingCount(for: trafficOrigin) == 1)
        _ = try await start("third", on: limit)
        await server.answer("first", then: "second")
        await server.answer("second", then: "third")
        await server.answer("third")
        #expect(server.names == ["first", "second", "third"])
    }

    @Test("a request that is cancelled before it queues for a slot does not wait")
    func cancelledBefore() async throws {
        let limit = ConcurrencyLimit(1)
        _ = try await start("first", on: limit)
        let request = try HttpRequest.test()
        let (stream, begin) = AsyncStream<Void>.makeStream()
        let late = Task {
            for await _ in stream {}
            return await limit.outcome(of: request) { .test() }
        }
        late.cancel()
        begin.finish()
        #expect(await late.value == "cancelled")
        await server.answer("first")
    }

    @Test("a slot comes back whatever becomes of the request")
    func failures() async throws {
        struct Lost: Error {}
        let limit = ConcurrencyLimit(1)
        for _ in 1...3 { #expect(await limit.outcome(of: try .test()) { throw Lost() } == "Lost()") }
        #expect(limit.underWayCount(to: trafficOrigin) == 0)
        let cancelled = try await start("cancelled", on: limit)
        cancelled.cancel()
        #expect(await cancelled.value == "cancelled")
        #expect(await limit.outcome(of: try .test()) { .test() } == "200")
    }

    @Test("the slots of one origin are not those of another, and a URL without origin needs none")
    func origins() async throws {
        let limit = ConcurrencyLimit(1)
        _ = try await start("first", on: limit)
        #expect(await limit.outcome(of: try .test("https://other.example.com")) { .test() } == "200")
        #expect(await limit.outcome(of: try .test("things")) { .test() } == "200")
        await server.answer("first")
    }

    @Test("however many origins there are, those with a request under way are remembered, and no other need be")
    func manyOrigins() async throws {
        let limit = ConcurrencyLimit(1)
        let first = try await start("first", on: limit)
        for number in 1...600 {
            #expect(await limit.outcome(of: try .test("https://\(number).example.com")) { .test() } == "200")
        }
        #expect(limit.underWayCount(to: trafficOrigin) == 1)
        let second = try await start("second", on: limit)
        #expect((server.names, limit.waitingCount(for: trafficOrigin)) == (["first"], 1))
        await server.answer("first", then: "second")
        await server.answer("second")
        #expect(await [first.value, second.value] == ["200", "200"])

        var slots = SlotMachine<NamedWaiter>(limit: 1, maxWaiting: 1)
        #expect(slots.worth == .nothing)
        #expect((slots.enter(.normal), slots.worth) == (.go, .indispensable))
        slots.wait(NamedWaiter("a"), priority: .normal)
        #expect((slots.leave(), slots.worth) == (NamedWaiter("a"), .indispensable))
        #expect((slots.leave(), slots.worth) == (nil, .nothing))
    }

    @Test("a slot that has become free since the first look is taken, and not waited for")
    func join() {
        var slots = SlotTable<NamedWaiter>(maxConcurrent: 1, maxWaiting: 1)
        let looks = (0..<2).map { _ in slots.enter(trafficOrigin, .normal) }
        #expect(looks == [.go, .wait])
        _ = slots.leave(trafficOrigin)
        let answers = ["a", "b", "c"].map { slots.join(NamedWaiter($0), trafficOrigin, .normal) }
        #expect(answers == [.go, .wait, .refuse(.tooManyWaiting(limit: 1))])
        #expect(slots.counts(of: trafficOrigin) == (1, 1))
        let next = slots.leave(trafficOrigin)
        #expect(next == NamedWaiter("b"))
        #expect(slots.counts(of: trafficOrigin) == (1, 0))
    }

    @Test("a request of a refresh waits at the front of a full queue")
    func refresh() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let plain = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [ConcurrencyLimit(1, maxWaiting: 0)],
                transport: ScriptedTransport(clock: clock) { _, _ in .delay(.seconds(1), then: .reply(text: "ok")) },
                clock: clock
            )
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { $0.number == 1 ? .zero : nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                _ = try await Ping.get.schedule(with: plain)
                return Token(number: 2)
            }
            async let slow = Ping.get.schedule(with: plain)
            try await clock.sleep(for: .milliseconds(1))
            let refused = await Ping.get.result(with: plain).error
            let text = try await Ping.get.schedule(
                with: plain.with { $0.retrierFactory = AuthorizationRetrier.factory(coordinator) }
            )
            #expect((text, clock.now.offset) == ("ok", .seconds(3)))
            #expect(refused?.kind == .refused(.tooManyWaiting(limit: 0)))
            _ = try await slow
        }
    }

    @Test("a limit of nothing is a limit of one")
    func clamped() async throws {
        let limit = ConcurrencyLimit(0, maxWaiting: -1)
        #expect(await limit.outcome(of: try .test()) { .test() } == "200")
        _ = try await start("first", on: limit)
        #expect(await limit.outcome(of: try .test()) { .test() } == "refused: 0 requests wait already")
        await server.answer("first")
    }
}

/// A server that answers when it is told to.
private final class HoldingServer: Sendable {
    private struct State {
        var names: [String] = []
        var answers: [String: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Locked(State())

    /// The names of those that have come, in order.
    var names: [String] { state.withLock { $0.names } }

    func serve(_ name: String) async throws -> HttpResponse<Data> {
        let (stream, answer) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            state.answers[name] = answer
            state.names.append(name)
        }
        for await _ in stream {}
        try Task.checkCancellation()
        return .test()
    }

    /// Answers, and returns once the `next` one has come; at once when none waits.
    func answer(_ name: String, then next: String? = nil) async {
        state.withLock { $0.answers[name] }?.finish()
        while let next, names.last != next { await Task.yield() }
    }
}
