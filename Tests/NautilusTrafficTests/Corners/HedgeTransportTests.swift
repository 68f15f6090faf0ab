import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Hedging and what transports do", .endsInTime)
struct HedgeTransportTests {
    /// A transport whose first send does as it is told, and whose second answers after 10 ms.
    private struct Peculiar: HttpTransport {
        let clock: any Clock<Duration>
        let count = Counter()
        let first: @Sendable (TransportContext) async throws -> HttpResponse<Data>

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            if count.increment() == 1 { return try await first(context) }
            try await clock.sleep(for: .milliseconds(10))
            return HttpResponse(status: 200, header: [:], body: Data("second".utf8))
        }
    }

    private func service(
        _ transport: any HttpTransport,
        on clock: any Clock<Duration>,
        interceptors: [any HttpInterceptor] = []
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            transport: transport,
            clock: clock
        ).with {
            $0.interceptors.append(
                Hedging(
                    after: .fixed(.milliseconds(100)),
                    latencies: OriginLatencies(),
                    budget: .unlimited
                )
            )
        }
    }

    private static let first = HttpResponse(status: 200, header: [:], body: Data("first".utf8))

    @Test("a transport that ignores its cancellation does not hold up the winner, and keeps its slot to its end")
    func deaf() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let limit = ConcurrencyLimit(2)
            let transport = Peculiar(clock: clock) { _ in
                await BackgroundTask.start { try? await clock.sleep(for: .seconds(10)) }.value
                return Self.first
            }
            // The other way round as well: the slot of a second send that is deaf.
            let response = try await Ping(timeout: .seconds(60)).response(
                with: service(transport, on: clock, interceptors: [limit])
            )
            #expect(response.body == "second")
            #expect(clock.now.offset == .milliseconds(110))
            await clock.run()
            #expect(clock.now.offset == .seconds(10))
            #expect(limit.underWayCount(to: trafficOrigin) == 0)
        }
    }

    @Test("the time for which a send queues for a connection does not make it slow")
    func connectionWait() async throws {
        for wait in [Duration.milliseconds(500), .zero] {
            for timeout in [Duration.milliseconds(200), nil] {
                try await simulate { simulation in
                    let clock = simulation.clock
                    let transport = Peculiar(clock: clock) { context in
                        context.beginWaitingForConnection()
                        try await clock.sleep(for: wait)
                        context.endWaitingForConnection()
                        try await clock.sleep(for: .nanoseconds(99_999_999))
                        return Self.first
                    }
                    let response = try await Ping(timeout: timeout).response(with: service(transport, on: clock))
                    #expect(response.body == "first")
                    #expect(transport.count.value == 1)
                    #expect(response.trace.attempts.map(\.hedge) == [nil])
                }
            }
        }
    }

    @Test("after waiting in a queue, the whole delay counts, and so does the timeout from the first send")
    func slowAfterWaiting() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = Peculiar(clock: clock) { context in
                context.beginWaitingForConnection()
                try await clock.sleep(for: .milliseconds(500))
                context.endWaitingForConnection()
                try await clock.sleep(for: .seconds(10))
                return Self.first
            }
            let response = try await Ping(timeout: .milliseconds(120)).response(with: service(transport, on: clock))
            #expect(response.body == "second")
            #expect(clock.now.offset == .milliseconds(610))
        }
    }

    @TaskLocal private static var label = "none"

    @Test("both sends have the task-local values of the call")
    func taskLocals() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let seen = Locked<[String]>([])
            let transport = ScriptedTransport(clock: clock) { _, _ in
                let isFirst = seen.withLock { seen in
                    seen.append(Self.label)
                    return seen.count == 1
                }
                return isFirst ? .hang : .reply(text: "second")
            }
            try await Self.$label.withValue("mine") {
                _ = try await Ping(deadline: .seconds(1)).response(with: service(transport, on: clock))
            }
            #expect(seen.withLock { $0 } == ["mine", "mine"])
        }
    }

    @Test("a call that is cancelled before it is sent sends nothing twice")
    func cancelledBefore() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(.hang, clock: simulation.clock)
            let service = service(transport, on: simulation.clock)
            let hedge = await withTaskGroup(of: CallTrace.Hedge?.self) { group in
                group.cancelAll()
                group.addTask { try? await Ping().response(with: service).trace.attempts.last?.hedge }
                return await group.next() ?? nil
            }
            #expect(hedge == nil)
            #expect(transport.count <= 1)
            #expect(transport.inFlightCount == 0)
        }
    }

    // MARK: On a clock with alarms, in tasks of the system

    @Test("on a clock with alarms, the second send begins by an alarm, and none is left behind")
    func alarm() async throws {
        let base = ManualClock()
        let clock = SharedSleepClock(base)
        let transport = ScriptedTransport(.hang, .reply(text: "second"), clock: base)
        let service = service(transport, on: clock)
        async let response = Ping(timeout: .seconds(60)).response(with: service)
        try await transport.waitForAttempts(count: 1)
        while clock.sleeperCount < 2 { await Task.yield() }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .milliseconds(100))
        #expect(try await response.body == "second")
        // The send that has lost takes its timer along when it ends.
        while clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("the timeout interrupts both")
    func interruption() async throws {
        let base = ManualClock()
        let clock = SharedSleepClock(base)
        let transport = ScriptedTransport(.hang, .hang, clock: base)
        let service = service(transport, on: clock)
        async let response = Ping(timeout: .milliseconds(150)).response(with: service)
        try await transport.waitForAttempts(count: 1)
        // The delay and the timeout.
        while clock.sleeperCount < 2 { await Task.yield() }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .milliseconds(100))
        try await transport.waitForAttempts(count: 2)
        // Each send has a timeout.
        while clock.sleeperCount < 2 { await Task.yield() }
        try await base.waitForSleepers(count: 1)
        base.advance(by: .milliseconds(50))
        var error: HttpError?
        do { _ = try await response } catch let thrown as HttpError { error = thrown }
        #expect(error?.kind == .timeout(.milliseconds(150)))
        #expect(transport.attempts.map { "\($0.outcome)" } == ["cancelled", "cancelled"])
        #expect(clock.sleeperCount == 0)
    }
}
