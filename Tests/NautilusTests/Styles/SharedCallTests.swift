import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCombine
@testable import NautilusHTTP

@Suite("A call shared by several callers", .endsInTime)
struct SharedCallTests {
    /// A receiver of outcomes.
    private final class Taker: Sendable {
        private let taken = Locked<[String]>([])
        var all: [String] { taken.withLock { $0 } }
        var id: ObjectIdentifier { ObjectIdentifier(self) }

        func join(_ call: SharedCall<String, HttpError>) {
            call.join(id) { outcome in
                let text = (try? outcome.get()) ?? "failed"
                self.taken.withLock { $0.append(text) }
            }
        }
    }

    /// Starts by hand, and counts.
    private final class Starts: Sendable {
        private let completions = Locked<[@Sendable (Result<String, HttpError>) -> Void]>([])
        private let handles = Locked<[CallHandle]>([])
        var count: Int { completions.withLock { $0.count } }
        var cancelled: [Bool] { handles.withLock { $0.map(\.isCancelled) } }
        var call: SharedCall<String, HttpError> {
            SharedCall { completion in
                self.completions.withLock { $0.append(completion) }
                let handle = CallHandle {}
                self.handles.withLock { $0.append(handle) }
                return handle
            }
        }

        func end(_ number: Int, _ outcome: Result<String, HttpError> = .success("ok")) {
            completions.withLock { $0[number] }(outcome)
        }
    }

    private let starts = Starts()
    private let first = Taker()
    private let second = Taker()

    @Test("nothing is called before somebody asks; then one call serves all, those included who come or ask later")
    func shared() {
        let call = starts.call
        first.join(call)
        second.join(call)
        #expect(starts.count == 0)
        call.ask(first.id)
        call.ask(first.id)
        #expect(starts.count == 1)
        starts.end(0)
        #expect(first.all == ["ok"])
        #expect(second.all == [], "it has not asked")
        call.ask(second.id)
        #expect(second.all == ["ok"])
        let third = Taker()
        third.join(call)
        call.ask(third.id)
        call.ask(third.id)
        #expect(third.all == ["ok"])
        #expect(starts.count == 1)
        #expect(starts.cancelled == [false])
    }

    @Test("a failure is shared as well, and not tried again")
    func failure() {
        let call = starts.call
        first.join(call)
        call.ask(first.id)
        starts.end(0, .failure(HttpError(.cancelled, stage: .send)))
        second.join(call)
        call.ask(second.id)
        #expect(first.all + second.all == ["failed", "failed"])
        #expect(starts.count == 1)
    }

    @Test("the last to leave cancels the call, not those before, nor whoever leaves twice")
    func leaving() {
        let call = starts.call
        first.join(call)
        second.join(call)
        call.ask(first.id)
        call.leave(first.id)
        call.leave(first.id)
        #expect(starts.cancelled == [false])
        call.leave(second.id)
        #expect(starts.cancelled == [true])
        starts.end(0)
        #expect(first.all + second.all == [])
    }

    @Test("after a cancellation the call is made anew, and the late outcome of the first is nobody's")
    func anew() {
        let call = starts.call
        first.join(call)
        call.ask(first.id)
        call.leave(first.id)
        second.join(call)
        call.ask(second.id)
        #expect(starts.count == 2)
        starts.end(0, .success("late"))
        #expect(second.all == [])
        starts.end(1)
        #expect(second.all == ["ok"])
        #expect(starts.cancelled == [true, false])
    }

    @Test("leaving after the end, or without having joined, does nothing")
    func strangers() {
        let call = starts.call
        call.ask(first.id)
        call.leave(first.id)
        #expect(starts.count == 0)
        first.join(call)
        call.ask(first.id)
        starts.end(0)
        call.leave(first.id)
        #expect(starts.cancelled == [false])
    }

    @Test("leaving a shared call while it is being started cancels it all the same")
    func leavingWhileStarting() {
        let taker = Taker()
        let holder = Locked<SharedCall<String, HttpError>?>(nil)
        let started = Locked<CallHandle?>(nil)
        let call = SharedCall<String, HttpError> { _ in
            holder.withLock { $0 }?.leave(taker.id)
            let handle = CallHandle {}
            started.withLock { $0 = handle }
            return handle
        }
        holder.withLock { $0 = call }
        taker.join(call)
        call.ask(taker.id)
        #expect(started.withLock { $0 }?.isCancelled == true)
        holder.withLock { $0 = nil }
    }

    @Test(
        "a shared call is answered at most once, in any order of asking and leaving",
        arguments: 0..<200 as Range<UInt64>
    )
    func interleavings(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                .delay(.milliseconds(20), then: .reply(text: "ok"))
            }
            let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: simulation.clock)
            let call = SharedCall<String, HttpError> { Ping.get.schedule(with: service, on: nil, completion: $0) }
            let staying = Counter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<12 {
                    let (start, stay) = (simulation.random.nextFraction(), simulation.random.nextFraction())
                    group.addTask {
                        let taker = Taker()
                        try? await simulation.clock.sleep(for: .milliseconds(Int(start * 30)))
                        taker.join(call)
                        call.ask(taker.id)
                        try? await simulation.clock.sleep(for: .milliseconds(stay < 0.5 ? Int(stay * 40) : 100))
                        call.leave(taker.id)
                        #expect(taker.all.count <= 1)
                        if stay >= 0.5 {
                            staying.increment()
                            #expect(taker.all == ["ok"], "who stays is served")
                        }
                    }
                }
            }
            // The last cancellation takes its moment.
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(transport.inFlightCount == 0)
            let answered = transport.attempts.filter { if case .replied = $0.outcome { true } else { false } }
            let cancelled = transport.attempts.filter { if case .cancelled = $0.outcome { true } else { false } }
            #expect(answered.count <= 1)
            #expect(answered.count + cancelled.count == transport.count)
            #expect(answered.count == 1 || staying.value == 0)
        }
    }
}
