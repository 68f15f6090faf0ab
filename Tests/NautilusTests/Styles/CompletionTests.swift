import Dispatch
import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Calls with a completion handler", .endsInTime)
struct CompletionTests {
    /// Keeps what a completion handler was told.
    private final class Outcomes<Success: Sendable, Failure: Error>: Sendable {
        private let outcomes = Locked<[Result<Success, Failure>]>([])
        private let signals = AsyncStream<Void>.makeStream()

        var all: [Result<Success, Failure>] { outcomes.withLock { $0 } }

        func add(_ outcome: Result<Success, Failure>) {
            outcomes.withLock { $0.append(outcome) }
            signals.continuation.yield()
        }

        /// The first outcome, once it is there.
        func first() async -> Result<Success, Failure>? {
            for await _ in signals.stream { break }
            return all.first
        }
    }

    @Test("the handler is called once, with the result or the service's own error", arguments: [200, 404])
    func once(status: Int) async throws {
        let outcomes = Outcomes<String, PageFailure>()
        let service = PageService(transport: ScriptedTransport(.reply(status: status, text: "ok")))
        let call = Ping.get.schedule(with: service, on: nil) { outcomes.add($0) }
        let outcome = await outcomes.first()
        switch outcome {
        case .success(let text): #expect(status == 200 && text == "ok")
        case .failure(let error): #expect(error.error.status == status && status == 404)
        case nil: Issue.record("no outcome")
        }
        call.cancel()
        call.cancel()
        #expect(call.isCancelled)
        #expect(outcomes.all.count == 1)
    }

    @Test("a completion handler runs on the main actor by default")
    @MainActor func mainActor() async throws {
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "ok")))
        var hasReturned = false
        let text = await withCheckedContinuation { continuation in
            Ping.get.schedule(with: service) { result in
                MainActor.assertIsolated()
                #expect(hasReturned, "never before the call's starter has returned")
                continuation.resume(returning: try? result.get())
            }
            hasReturned = true
        }
        #expect(text == "ok")
    }

    @Test("a completion handler runs on the given queue, with status and trace on request")
    func queue() async throws {
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            transport: ScriptedTransport(.reply(status: 201, text: "ok"))
        )
        let queue = DispatchQueue(label: "completion-tests")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 7)
        let response = await withCheckedContinuation { continuation in
            Ping.get.response(with: service, on: queue) { result in
                #expect(DispatchQueue.getSpecific(key: key) == 7)
                continuation.resume(returning: try? result.get())
            }
        }
        #expect(response?.status == 201)
        #expect(response?.trace.attempts.count == 1)
    }

    @Test("cancelled at once, nothing is sent, and the handler hears of it once", arguments: 0..<50 as Range<UInt64>)
    func cancelledBefore(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let outcomes = Outcomes<String, HttpError>()
            let transport = ScriptedTransport(.reply(text: "ok"), clock: simulation.clock)
            let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: simulation.clock)
            Ping.get.schedule(with: service, on: nil) { outcomes.add($0) }.cancel()
            guard case .failure(let error)? = await outcomes.first() else {
                Issue.record("it should be cancelled")
                return
            }
            #expect(error.kind == .cancelled)
            #expect(transport.count == 0)
            #expect(outcomes.all.count == 1)
        }
    }

    @Test("cancelled in an exchange or in a delay, the call ends then, and the handler hears of it once")
    func cancelledDuring() async throws {
        for reply in [ScriptedReply.hang, .status(503)] {
            try await simulate { simulation in
                let outcomes = Outcomes<String, HttpError>()
                let transport = ScriptedTransport(reply, clock: simulation.clock)
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: ScriptedRetrier.factory { _, _ in .retry(after: .seconds(100)) },
                    transport: transport,
                    clock: simulation.clock
                )
                let call = Ping.get.schedule(with: service, on: nil) { outcomes.add($0) }
                #expect(!call.isCancelled)
                try await simulation.clock.sleep(for: .seconds(5))
                call.cancel()
                guard case .failure(let error)? = await outcomes.first() else {
                    Issue.record("it should be cancelled")
                    return
                }
                #expect(error.kind == .cancelled)
                #expect(simulation.clock.now.offset == .seconds(5))
                #expect(outcomes.all.count == 1)
                #expect(transport.inFlightCount == 0)
            }
        }
    }

    @Test(
        "the handler of a cancelled call is called exactly once, whenever it is cancelled",
        arguments: 0..<200 as Range<UInt64>
    )
    func races(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let calls = 10
            let outcomes = Outcomes<String, HttpError>()
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                .delay(.milliseconds(10), then: .reply(text: "ok"))
            }
            let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: simulation.clock)
            for _ in 0..<calls {
                let call = Ping.get.schedule(with: service, on: nil) { outcomes.add($0) }
                let moment = Duration.milliseconds(Int(simulation.random.nextFraction() * 3) * 10)
                simulation.start {
                    try? await simulation.clock.sleep(for: moment)
                    call.cancel()
                }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(outcomes.all.count == calls)
            #expect(transport.inFlightCount == 0)
        }
    }

    @Test("a call outlives its handle, and its handler is let go of afterwards")
    func noLeak() async throws {
        final class Owner: Sendable {}
        let outcomes = Outcomes<String, HttpError>()
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "ok")))
        weak var released: Owner?
        let call: CallHandle
        do {
            let owner = Owner()
            released = owner
            call = Ping.get.schedule(with: service, on: nil) { [owner] in
                _ = owner
                outcomes.add($0)
            }
        }
        #expect(await outcomes.first().map { (try? $0.get()) } == "ok")
        while released != nil, !Task.isCancelled { await Task.yield() }
        #expect(released == nil)
        #expect(!call.isCancelled)
    }

    @Test("a call that another one begins and does not wait for is not bound by its deadline")
    func outerDeadline() async throws {
        try await simulate { simulation in
            let inner = AnyHttpService(
                apiUrl: "inner.example.com",
                transport: ScriptedTransport(
                    .delay(.seconds(9), then: .reply(text: "late")),
                    clock: simulation.clock
                ),
                clock: simulation.clock
            )
            let outcomes = Outcomes<String, HttpError>()
            let outer = AnyHttpService(
                apiUrl: "outer.example.com",
                transport: ScriptedTransport(clock: simulation.clock) { _, _ in
                    Ping.get.schedule(with: inner, on: nil) { outcomes.add($0) }
                    return .reply(text: "ok")
                },
                clock: simulation.clock
            )
            _ = try await Ping(deadline: .seconds(5)).schedule(with: outer)
            #expect(await outcomes.first().map { (try? $0.get()) } == "late")
            #expect(simulation.clock.now.offset == .seconds(9))
        }
    }
}
