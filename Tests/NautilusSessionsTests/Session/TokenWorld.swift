import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport

/// A server with tokens of its own, a store, and any number of processes that share both, in virtual time.
struct TokenWorld: SimulatedWorld {
    let clock: ManualClock
    let random: SeededRandomSource
    let server: TokenServer
    let store = MemoryStore()
    let key = CredentialKey(issuer: "api.test")

    init(_ simulation: Simulated) {
        (clock, random) = (simulation.clock, simulation.random)
        server = TokenServer(clock: simulation.clock)
    }

    /// The API, before anybody is signed in.
    var api: AnyHttpService<HttpError> { AnyHttpService(apiUrl: "api.test", transport: server.transport, clock: clock) }

    /// The rules that an app writes for a token of its own.
    func rules(spendsCredential: Bool = true) -> SessionRules<ApiToken> {
        SessionRules(
            authorize: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(date)) },
            spendsCredential: spendsCredential,
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: api) },
            refresh: { token in
                let value = try await SendToken(token: token).schedule(with: api)
                return ApiToken(value: value, expires: date.addingTimeInterval(3600))
            }
        )
    }

    /// A session as another process has it, which knows nothing of what has happened in the others.
    ///
    /// - Parameter process: The same for two sessions of one process.
    func process(
        _ rules: SessionRules<ApiToken>? = nil,
        store: (any CredentialStore)? = nil,
        limits: RefreshLimits = RefreshLimits(timeLimit: .seconds(90), maxCoolDowns: 0),
        in process: SimulatedProcess = SimulatedProcess()
    ) -> Session<ApiToken> {
        SimulatedProcess.$current.withValue(process) {
            Session(
                key: key,
                rules: rules ?? self.rules(),
                store: store ?? self.store,
                limits: limits,
                clock: clock,
                random: random
            )
        }
    }

    /// A process whose user is signed in.
    func signedIn(_ user: String = "anna", _ rules: SessionRules<ApiToken>? = nil) async throws -> Session<ApiToken> {
        let session = process(rules)
        try await session.signIn(server.signIn(user, at: date))
        return session
    }

    /// One call, as its outcome.
    func call(_ session: Session<ApiToken>) async -> CallResult {
        await GetNotes().result(with: api.with { $0.retrierFactory = session.authorization })
    }
}

extension CallResult {
    /// The token that the server has seen; nil for a failure.
    var token: String? { text }

    /// The session's error underneath, however deep.
    var sessionKind: SessionError.Kind? {
        guard let error else { return nil }
        return switch refreshError {
        case .failed(_, let cause), .coolingDown(_, let cause): (cause as? SessionError)?.kind
        case .sessionExpired(let cause): ((cause as? RefreshError.Terminal)?.underlying as? SessionError)?.kind
        default: (error.underlying as? SessionError)?.kind
        }
    }
}
