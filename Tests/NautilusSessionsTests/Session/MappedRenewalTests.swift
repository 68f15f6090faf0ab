import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// An API whose calls fail with an error of its own, which keeps nothing of what it was made from.
private struct OwnErrors: HttpService {
    enum Failure: Error {
        case failed
    }

    let base: AnyHttpService<HttpError>
    var apiUrl: any UrlConvertible { base.apiUrl }
    var transport: any HttpTransport { base.transport }
    var clock: any Clock<Duration> { base.clock }

    func mapError(_ error: HttpError) -> Failure { .failed }
}

@Suite("Renewal through a service with errors of its own")
struct MappedRenewalTests {
    private static func rules(
        of world: TokenWorld,
        classify: @escaping @Sendable (any Error) -> RenewalFailure = { RenewalFailure($0) }
    ) -> SessionRules<ApiToken> {
        let service = OwnErrors(base: world.api)
        return SessionRules(
            stamp: { token, request in request.header["X-Api-Token"] = token.value },
            classify: classify,
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: service) },
            renew: { token in
                ApiToken(value: try await SendToken(token: token).schedule(with: service), expires: .distantFuture)
            }
        )
    }

    @Test("the server's 401 ends the session")
    func ends() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna", Self.rules(of: world))
            world.server.endSessions()
            guard case .sessionExpired(let cause) = await world.call(session).refreshError else {
                Issue.record("the session goes on")
                return
            }
            // The cause is the call's failure, and says more than the service's own error.
            #expect(((cause as? TerminalRefreshFailure)?.underlying as? HttpError)?.status == 401)
            #expect(!session.isSignedIn)
            #expect(world.server.renewals == ["anna-1"])
        }
    }

    @Test("a lost answer is asked for again within the server's grace")
    func lostAnswer() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna", Self.rules(of: world))
            world.server.grantGrace()
            world.server.fail(.answerLost)
            let grant = try #require(session.current)
            #expect(try await session.refresh(rejecting: grant).credential.value == "anna-2")
            #expect(world.server.renewals == ["anna-1", "anna-1"])
        }
    }

    @Test("classify sees the service's own error, and what it leaves to RenewalFailure is read from the call's")
    func ownClassification() async throws {
        try await TokenWorld.run { world in
            let seen = Locked<[String]>([])
            let rules = Self.rules(of: world) { error in
                seen.withLock { $0.append("\(type(of: error)) \(HttpError.behind(error)?.status ?? 0)") }
                return RenewalFailure(error)
            }
            let session = try await world.signedIn("anna", rules)
            world.server.endSessions()
            _ = await world.call(session)
            #expect(seen.withLock { $0 } == ["Failure 401"])
            #expect(!session.isSignedIn)
        }
    }

    @Test("an error that is thrown after a call has succeeded is no call's")
    func laterError() async throws {
        try await TokenWorld.run { world in
            let service = OwnErrors(base: world.api)
            let rules = SessionRules<ApiToken>(
                stamp: { token, request in request.header["X-Api-Token"] = token.value },
                renew: { token in
                    let other = ApiToken(value: "unknown", expires: .distantFuture)
                    // 401, and never mind.
                    _ = try? await SendToken(token: other).schedule(with: service)
                    _ = try await SendToken(token: token).schedule(with: service)
                    throw OwnErrors.Failure.failed
                }
            )
            let session = try await world.signedIn("anna", rules)
            let grant = try #require(session.current)
            await #expect(throws: RefreshError.self) { _ = try await session.refresh(rejecting: grant) }
            #expect(session.isSignedIn)
            #expect(world.server.renewals == ["unknown", "anna-1"])
        }
    }

    @Test("a revocation that fails for now is tried again")
    func revocation() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna", Self.rules(of: world))
            world.server.failRevocation(with: .status(503))
            await #expect(throws: SessionError.self) { try await session.signOut() }
            #expect(world.server.revoked.isEmpty)
            try await world.sleep(.seconds(3600))
            #expect(world.server.revoked == ["anna-1"])
        }
    }
}
