import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("The longest wait of Pacing", .endsInTime)
struct PacingLongestWaitTests {
    @Test("a request that waits for another to end waits no longer than the longest wait, and a tenth or a second more")
    func longestWait() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                let limits: HttpHeader = ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "60"]
                let reply = ScriptedReply.status(200, header: limits)
                return request.url.lastPathComponent == "slow" ? .delay(.seconds(25), then: reply) : reply
            }
            let pacing = Pacing(maxWait: .seconds(2), clock: clock, random: FixedRandomSource(0.5))
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                interceptors: [pacing],
                transport: transport,
                clock: clock
            )
            _ = try await Ping.get.schedule(with: service)
            async let slow = Ping(route: ["slow"]).result(with: service)
            try await transport.waitForAttempts(count: 2)
            let start = clock.now.offset
            let error = await Ping.get.result(with: service).error
            #expect(clock.now.offset - start == .seconds(3))
            guard case .refused(.waitTooLong(let wait, let limit))? = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect((wait, limit) == (.seconds(3), .seconds(2)))
            #expect(await slow.error == nil)
            #expect(transport.count == 2)
        }
    }

    @Test("a request that others overtake again and again waits no longer than the longest wait")
    func overtaken() {
        var machine = PaceMachine<NamedWaiter>(
            rules: PaceRules(
                maxWaiting: nil,
                maxWait: .seconds(10),
                interval: .zero,
                rate: .requests(1, per: .seconds(10))
            )
        )
        let usual = PaceAsker(remaining: nil, isUrgent: false)
        let urgent = PaceAsker(remaining: nil, isUrgent: true)
        #expect(machine.ask(usual, at: .zero) == .go(number: 1))
        for (name, asker, start) in [("usual", usual, 1), ("urgent", urgent, 9), ("urgent again", urgent, 11)] {
            let start = Duration.seconds(start)
            if let released = machine.release(at: start, draw: 0) { #expect(released.waiter.id == "urgent") }
            #expect(machine.ask(asker, at: start) == .wait)
            machine.wait(.init(waiter: NamedWaiter(name), start: start, asker: asker), draw: 0)
        }
        #expect(machine.waiting == 2)
        // The longest wait, and a second.
        #expect(machine.nextAlarm(at: .seconds(11)) == .seconds(12))
        let overdue = machine.turnAwayOverdue(at: .seconds(12))
        #expect(overdue.map(\.waiter.id) == ["usual"])
        #expect(overdue.map(\.refusal) == [.waitTooLong(.seconds(11), limit: .seconds(10))])
        #expect(machine.nextAlarm(at: .seconds(12)) == .seconds(21))
    }
}
