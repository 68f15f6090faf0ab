import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting

/// A server with tokens of its own, a store, and any number of processes that share both, in virtual time.
struct TokenWorld: Sendable {
    let clock: ManualClock
    let random: SeededRandomSource
    let server: TokenServer
    let store = MemoryStore()
    let key = CredentialKey(issuer: "api.test")

    /// Runs `body` in a world of its own, in the interleaving of `seed`.
    static func run<Result: Sendable>(
        seed: UInt64 = 0,
        _ body: @escaping @Sendable (TokenWorld) async throws -> Result
    ) async throws -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { throw OlderSystem() }
        return try await Simulation(seed: seed).run { simulation in
            let clock = simulation.clock
            let world = TokenWorld(clock: clock, random: simulation.random, server: TokenServer(clock: clock))
            return try await body(world)
        }
    }

    private struct OlderSystem: Error {}

    var date: Date {
        Date(timeIntervalSince1970: 1_800_000_000 + ManualClock.Instant(.zero).duration(to: clock.now) / .seconds(1))
    }

    /// The API, before anybody is signed in.
    var api: AnyHttpService<HttpError> { AnyHttpService(apiUrl: "api.test", transport: server.transport, clock: clock) }

    /// The rules that an app writes for a token of its own.
    func rules(spendsCredential: Bool = true) -> SessionRules<ApiToken> {
        SessionRules(
            stamp: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(date)) },
            spendsCredential: spendsCredential,
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: api) },
            renew: { token in
                let value = try await SendToken(token: token).schedule(with: api)
                return ApiToken(value: value, expires: date.addingTimeInterval(3600))
            }
        )
    }

    /// A session as another process has it.
    func process(
        _ rules: SessionRules<ApiToken>? = nil,
        store: (any CredentialStore)? = nil,
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90), maxCoolDowns: 0)
    ) -> Session<ApiToken> {
        Session(
            key: key,
            rules: rules ?? self.rules(),
            store: store ?? self.store,
            limits: limits,
            clock: clock,
            random: random
        )
    }

    /// A process whose user is signed in.
    func signedIn(_ user: String = "anna", _ rules: SessionRules<ApiToken>? = nil) async throws -> Session<ApiToken> {
        let session = process(rules)
        try await session.signIn(server.signIn(user, at: date))
        return session
    }

    /// One call, as its outcome.
    func call(_ session: Session<ApiToken>) async -> Result<String, HttpError> {
        let service = api.with { $0.retrierFactory = session.authorization }
        do throws(HttpError) {
            return .success(try await GetNotes().schedule(with: service))
        } catch {
            return .failure(error)
        }
    }

    func sleep(_ duration: Duration) async throws { try await clock.sleep(for: duration) }
}

extension Result where Success == String, Failure == HttpError {
    var token: String? { try? get() }

    /// The coordinator's error underneath; nil for a success, and for another error.
    var refreshError: RefreshError? {
        if case .failure(let error) = self { error.underlying as? RefreshError } else { nil }
    }

    /// The session's error underneath, however deep.
    var sessionKind: SessionError.Kind? {
        guard case .failure(let error) = self else { return nil }
        return switch refreshError {
        case .failed(_, let cause), .coolingDown(_, let cause): (cause as? SessionError)?.kind
        case .sessionExpired(let cause): ((cause as? TerminalRefreshFailure)?.underlying as? SessionError)?.kind
        default: (error.underlying as? SessionError)?.kind
        }
    }
}
