import Foundation
import NautilusCaching
import NautilusTesting
import NautilusTraffic
import TestSupport

@testable import Nautilus
@testable import NautilusHTTP

/// One call that awaits everything there is to await: an async header, interceptors of both kinds, a queue, a pace, a
/// rejected token and its refresh, a 503 and its backoff, a gate, a redirect, and a slow answer with a hedge.
///
/// The users' tokens begin with their name: A has 10, B has 20; a refresh adds one.
struct EverythingWorld: Sendable {
    let clock: ManualClock
    let coordinator: RefreshCoordinator<Token>
    let transport: ScriptedTransport
    let service: AnyHttpService<HttpError>

    /// - Parameter hedges: Whether a slow answer is hedged, and the pace such that it can be.
    init(_ simulation: Simulated, hedges: Bool) {
        let clock = simulation.clock
        let coordinator = RefreshCoordinator(credential: Token(number: 10), clock: clock, random: simulation.random) {
            token in
            try await clock.sleep(for: .milliseconds(50))
            return Token(number: token.number + 1)
        }
        let refusals = Locked(0)
        let transport = ScriptedTransport(clock: clock) { request, _ in
            .delay(.milliseconds(20), then: Self.reply(to: request, refusals, count: hedges ? 2 : 1))
        }
        (self.clock, self.coordinator, self.transport) = (clock, coordinator, transport)
        service = AnyHttpService(
            apiUrl: "a.example",
            interceptors: [
                RequestCoalescing(), HttpCache(), Renaming(), ConcurrencyLimit(2),
                Pacing(
                    rate: .requests(hedges ? 900 : 2, per: .seconds(3)),
                    interval: hedges ? .zero : .milliseconds(20),
                    clock: clock,
                    random: simulation.random
                ),
                CircuitBreaker(clock: clock, random: simulation.random),
            ],
            retrierFactory: .composed(
                AuthorizationRetrier.factory(coordinator),
                steadyBackoff(gate: SlowGate(clock: clock))
            ),
            transport: transport,
            clock: clock
        ).with {
            $0.asyncHeader = {
                try await clock.sleep(for: .milliseconds(1))
                return ["X-Slow": "1"]
            }
            if hedges {
                $0.interceptors.append(
                    Hedging(
                        after: .fixed(.milliseconds(5)),
                        latencies: OriginLatencies(clock: clock),
                        budget: .unlimited
                    )
                )
            }
        }
    }

    /// The first token of each user is rejected, then `count` requests are answered 503, and then the answer is elsewhere.
    private static func reply(to request: HttpRequest, _ refusals: Locked<Int>, count: Int) -> ScriptedReply {
        guard request.url.path != "/moved" else { return .reply(text: "ok") }
        guard let token = request.header[.authorization], !token.hasSuffix("0") else { return .status(401) }
        let isRefused = refusals.withLock { refusals in
            refusals += 1
            return refusals <= count
        }
        return isRefused ? .status(503) : .status(302, header: ["Location": "/moved"])
    }

    var sentTokens: [String] { transport.attempts.map { $0.header[.authorization] ?? "none" } }
}

/// Changes each request.
private struct Renaming: CallInterceptor {
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        request.header["X-Name"] = "1"
        return try await next(request)
    }
}

/// Holds each retry up.
private struct SlowGate: RetryGate {
    let clock: ManualClock

    func pass(to origin: HttpOrigin) async throws { try await clock.sleep(for: .milliseconds(7)) }
    func close(_ origin: HttpOrigin, for pause: Duration) {}
    func remainingPause(of origin: HttpOrigin) -> Duration { .zero }
    var anonymous: any RetryGate { self }
}

/// How the user of a session changes.
enum UserChange: CaseIterable, Sendable {
    case signOut, signInAsAnother, signInAgain

    func make(in coordinator: RefreshCoordinator<Token>) {
        switch self {
        case .signOut: coordinator.signOut()
        case .signInAsAnother: coordinator.signIn(Token(number: 20))
        case .signInAgain: coordinator.signIn(Token(number: 30))
        }
    }
}
