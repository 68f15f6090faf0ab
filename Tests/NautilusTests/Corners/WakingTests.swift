import NautilusCaching
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Calls that a sign-out wakes", .endsInTime)
struct WakingTests {
    enum Wait: CaseIterable, Sendable {
        case gate, queue, pace, backoff, offline, refresh, rejectedRefresh, coalescing
    }

    private struct Run: Sendable {
        let result: CallResult
        let end: Duration
        let sentCount: Int
    }

    @Test(
        "a call that is signed out while it waits ends at that instant, whatever it waits for",
        arguments: Wait.allCases
    )
    func wakes(wait: Wait) async throws {
        let run = try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { _ in wait == .refresh ? .milliseconds(1) : nil },
                clock: clock,
                random: simulation.random
            ) { _ in
                try await clock.sleep(for: .seconds(20))
                return Token(number: 2)
            }
            let isShared = wait == .queue || wait == .coalescing
            let transport = ScriptedTransport(clock: clock) { _, _ in
                switch wait {
                case .queue, .coalescing: .delay(.seconds(50), then: .reply(text: "ok"))
                case .offline: .fail(.notConnectedToInternet)
                case .rejectedRefresh: .status(401)
                case .pace: .reply(text: "ok")
                case .gate, .backoff, .refresh: .status(503)
                }
            }
            let service = Self.service(wait, coordinator, transport, clock)
            if isShared || wait == .pace { simulation.start { _ = await Ping.get.result(with: service) } }
            simulation.start {
                try? await clock.sleep(for: .seconds(2))
                coordinator.signOut()
            }
            try await clock.sleep(for: .milliseconds(5))
            let result = await Ping.get.result(with: service)
            return Run(result: result, end: clock.now.offset, sentCount: transport.count)
        }
        #expect(run.result.error?.underlying is RefreshError)
        #expect(run.end == .seconds(2))
        #expect(run.sentCount == (wait == .refresh ? 0 : 1))
    }

    private static func service(
        _ wait: Wait,
        _ coordinator: RefreshCoordinator<Token>,
        _ transport: ScriptedTransport,
        _ clock: ManualClock
    ) -> AnyHttpService<HttpError> {
        let backoff = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(wait == .backoff ? .seconds(20) : .milliseconds(1))
                $0.budget = .unlimited
                if wait == .gate { $0.gate = Closed(clock: clock) }
                if wait == .offline {
                    $0.offline = OfflinePause(connectivity: Closed(clock: clock), longest: .seconds(100), clock: clock)
                }
            }
        )
        let interceptors: [any HttpInterceptor] =
            switch wait {
            case .queue: [ConcurrencyLimit(1)]
            case .pace: [Pacing(rate: .requests(1, per: .seconds(30)), clock: clock)]
            case .coalescing: [RequestCoalescing(accounts: .separate { _ in "one" })]
            case .gate, .backoff, .offline, .refresh, .rejectedRefresh: []
            }
        return AnyHttpService(
            apiUrl: "a.example",
            interceptors: interceptors,
            retrierFactory: .composed(AuthorizationRetrier.factory(coordinator), backoff),
            transport: transport,
            clock: clock
        )
    }
}

/// A gate that opens after a minute, and a network that is back then.
private struct Closed: RetryGate, Connectivity {
    let clock: ManualClock
    var isOnline: Bool { false }
    func waitUntilOnline() async throws { try await clock.sleep(for: .seconds(60)) }
    func pass(to origin: HttpOrigin) async throws { try await clock.sleep(for: .seconds(60)) }
    func close(_ origin: HttpOrigin, for pause: Duration) {}
    func remainingPause(of origin: HttpOrigin) -> Duration { .zero }
    var anonymous: any RetryGate { self }
}
