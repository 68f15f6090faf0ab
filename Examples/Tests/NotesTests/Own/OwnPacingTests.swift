import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import Testing

/// Lets so many requests go in each second, as written with public API only.
private final class SecondQuota<C: Clock<Duration>>: NetworkInterceptor, @unchecked Sendable {
    // Unchecked: the instants are only touched under the lock.
    private let lock = NSLock()
    private var instants: [C.Instant] = []
    private let quota: Int
    private let clock: C

    init(_ quota: Int, clock: C) {
        (self.quota, self.clock) = (quota, clock)
    }

    var networkStage: InterceptorTier.NetworkStage { .waitingForServer }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        while let end = takeTurn() {
            guard context.mayWait else { throw AttemptContext.WouldWait() }
            try await clock.sleep(until: end, tolerance: nil)
        }
        return try await next(request)
    }

    /// Nil when a request may go now; otherwise when it makes sense to ask again.
    private func takeTurn() -> C.Instant? {
        lock.withLock {
            let now = clock.now
            instants.removeAll { $0.advanced(by: .seconds(1)) <= now }
            guard instants.count < quota else { return instants.first?.advanced(by: .seconds(1)) }
            instants.append(now)
            return nil
        }
    }
}

private struct GetPage: Request {
    typealias Result = String
    var route: HttpRoute { ["page"] }
    func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

@Suite("A custom pacing, by the public API")
struct OwnPacingTests {
    /// Makes calls at once, of a server that answers after 300 ms.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func run(_ calls: Int, quota: Int, hedging delay: Duration?) async throws -> (
        hedges: [CallTrace.Hedge?], sends: Int, end: Duration
    ) {
        try await Simulation().run { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { _, _ in
                .delay(.milliseconds(300), then: .reply(text: "page"))
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [SecondQuota(quota, clock: clock)],
                transport: transport,
                clock: clock
            ).with {
                guard let delay else { return }
                $0.interceptors.append(Hedging(after: .fixed(delay), latencies: OriginLatencies(), budget: .unlimited))
            }
            let hedges = try await withThrowingTaskGroup(of: CallTrace.Hedge?.self) { group in
                for _ in 0..<calls {
                    group.addTask { try await GetPage().response(with: service).trace.attempts.last?.hedge }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            return (hedges, transport.count, clock.now.offset)
        }
    }

    @Test("a pacing of one's own holds requests back")
    func holdsBack() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let run = try await run(5, quota: 2, hedging: nil)
        #expect(run.sends == 5)
        #expect(run.end == .milliseconds(2_300))
    }

    @Test("a pacing of one's own holds hedges back, and lets them go when there is room", arguments: [(1, 1), (2, 2)])
    func holdsHedgesBack(quota: Int, sends: Int) async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let run = try await run(1, quota: quota, hedging: .milliseconds(100))
        #expect(run.sends == sends)
        let refusal = CallTrace.Hedge.notSent(.heldBack(by: "SecondQuota<ManualClock>"))
        #expect(run.hedges == [quota == 1 ? refusal : .sent(after: .milliseconds(100), winner: .first)])
    }

    @Test("diagnose() knows whether it is made anew")
    func diagnosed() {
        let (quota, limit) = (SecondQuota(1, clock: ContinuousClock()), ConcurrencyLimit(8))
        struct Made: HttpService {
            let limit: ConcurrencyLimit
            var apiUrl: any UrlConvertible { "api.example.com" }
            var interceptors: [any HttpInterceptor] { [limit, SecondQuota(1, clock: ContinuousClock())] }
        }
        #expect(AnyHttpService(apiUrl: "api.example.com", interceptors: [limit, quota]).diagnose().isEmpty)
        #expect(
            Made(limit: limit).diagnose() == [.madeAnew(type: "SecondQuota<ContinuousClock>", property: "interceptors")]
        )
    }
}
