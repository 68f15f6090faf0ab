import Foundation
import Nautilus
import NautilusTesting

/// The token that the example's `AuthorizationRetrier`, which is linked into these tests, puts on requests.
public struct Token: Hashable, Sendable {
    package let number: Int
    package var accessToken: String { "token-\(number)" }

    package init(
        number: Int
    ) {
        self.number = number
    }
}

/// A server that accepts one token at a time and counts the refreshes.
package final class TokenServer: Sendable {
    private struct State {
        var accepted: Set<Int>
        var lastIssued = 1
        var refreshCount = 0
    }

    private let state: Locked<State>
    private let clock: ManualClock

    package init(accepting accepted: Set<Int>, clock: ManualClock) {
        self.state = Locked(State(accepted: accepted))
        self.clock = clock
    }

    package var refreshCount: Int { state.withLock { $0.refreshCount } }

    /// Takes note of a refresh, and after `delay` issues a token that is the only one accepted from then on.
    package func issue(after delay: Duration = .milliseconds(50), isAccepted: Bool = true) async throws -> Token {
        state.withLock { $0.refreshCount += 1 }
        if delay > .zero { try await clock.sleep(for: delay) }
        return state.withLock { state in
            state.lastIssued += 1
            state.accepted = isAccepted ? [state.lastIssued] : []
            return Token(number: state.lastIssued)
        }
    }

    /// Takes note of a refresh that fails.
    package func refuse(after delay: Duration = .milliseconds(50), with error: any Error) async throws -> Token {
        state.withLock { $0.refreshCount += 1 }
        try await clock.sleep(for: delay)
        throw error
    }

    package func accepts(_ request: HttpRequest) -> Bool {
        state.withLock { state in
            state.accepted.contains { request.header[.authorization] == "Bearer token-\($0)" }
        }
    }
}

/// One service, its coordinator, and the server behind its transport, in virtual time.
///
/// The client holds token 1, which the server does not accept unless a test says so.
package struct TokenWorld: Sendable {
    /// Every case runs in a number of interleavings, since each is a claim about all of them.
    package static let seeds: Range<UInt64> = 0..<25

    package let clock: ManualClock
    package let server: TokenServer
    package let transport: ScriptedTransport
    package let coordinator: RefreshCoordinator<Token>

    /// Creates the world.
    ///
    /// - Parameters:
    ///   - lifetime: How long tokens serve; nil for ever.
    ///   - limits: The bounds of refreshing.
    ///   - answer: The server's answer to a request with the accepted token, or without: default 200 and 401, both
    ///     after 10 ms.
    ///   - refresh: Default: a new token after 50 ms.
    package init(
        _ simulation: Simulated,
        accepting accepted: Set<Int> = [],
        lifetime: Duration? = nil,
        limits: RefreshLimits = RefreshLimits(),
        answer: (@Sendable (HttpRequest, _ isAccepted: Bool) -> ScriptedReply)? = nil,
        refresh: (@Sendable (TokenServer, Token) async throws -> Token)? = nil
    ) {
        let clock = simulation.clock
        let server = TokenServer(accepting: accepted, clock: clock)
        self.clock = clock
        self.server = server
        let answer =
            answer ?? { _, isAccepted in
                .delay(.milliseconds(10), then: isAccepted ? .reply(text: "ok") : .status(401))
            }
        self.transport = ScriptedTransport(clock: clock) { request, _ in answer(request, server.accepts(request)) }
        self.coordinator = RefreshCoordinator(
            credential: Token(number: 1),
            lifetime: { _ in lifetime },
            limits: limits,
            clock: clock,
            random: simulation.random
        ) { token in
            guard let refresh else { return try await server.issue() }
            return try await refresh(server, token)
        }
    }

    /// Authorized, without backoff, so that a case counts nothing but what authorization does.
    package var service: AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AuthorizationRetrier.factory(coordinator),
            transport: transport,
            clock: clock
        )
    }

    /// One call, as its outcome.
    package func call(_ request: Ping = .get) async -> CallResult { await request.result(with: service) }

    /// Calls that are made at once, in the order in which they were started.
    package func calls(_ count: Int, _ request: Ping = .get) async -> [CallResult] {
        await atOnce(count) { _ in await call(request) }
    }

    /// The tokens that requests carried, in the order of their sending.
    package var sentTokens: [String?] { transport.attempts.map { $0.header[.authorization] } }
}
