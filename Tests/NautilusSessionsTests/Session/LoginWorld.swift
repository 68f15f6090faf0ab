import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport

/// A service with a login of its own, whose session is refreshed at `/renew` and revoked at `/logout`.
struct LoginWorld: SimulatedWorld {
    let clock: ManualClock
    let server: ScriptedTransport
    let session: Session<BearerToken>
    let service: AnyHttpService<HttpError>

    init(_ simulation: Simulated) {
        clock = simulation.clock
        server = ScriptedTransport(clock: clock)
        let plain = AnyHttpService<HttpError>(apiUrl: "api.test", transport: server, clock: clock)
        let rules = SessionRules.bearer(
            revoke: { token in
                let body = HttpBody.json(["token": token.accessToken])
                _ = try await AnyRequest(.post, ["logout"], body: body, as: Data.self).schedule(with: plain)
            },
            refresh: { token in
                let body = HttpBody.json(["token": token])
                return try await AnyRequest(.post, ["renew"], body: body, as: BearerToken.self).schedule(with: plain)
            }
        )
        let key = CredentialKey(issuer: "api.test")
        session = Session(key: key, rules: rules, store: MemoryStore(), clock: clock)
        let retriers = session.retrierFactory(.atOnce)
        service = AnyHttpService(apiUrl: "api.test", retrierFactory: retriers, transport: server, clock: clock)
    }

    /// The failure of a call.
    func error() async -> HttpError? {
        await AnyRequest(.get, ["things"], as: String.self).result(with: service).error
    }

    /// The token of the user who is signed in.
    var user: String? { session.current?.credential.accessToken }

    /// The tokens that the server was asked to forget.
    var revoked: [String] {
        server.attempts(at: .post, "/logout")
            .compactMap { try? JSONDecoder().decode([String: String].self, from: $0.body ?? Data())["token"] }
    }
}
