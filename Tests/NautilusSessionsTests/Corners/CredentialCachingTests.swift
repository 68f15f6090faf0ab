import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Credentials and caches")
struct CredentialCachingTests {
    /// A server that gives each request another token, and whose answers may be kept by its header.
    private static func transport(_ clock: ManualClock) -> ScriptedTransport {
        let count = Locked(0)
        return ScriptedTransport(clock: clock) { _, _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let token = #"{"access_token": "token-\#(number)"}"#
            return .delay(.seconds(1), then: .reply(header: ["Cache-Control": "max-age=60"], text: token))
        }
    }

    @Test("sign-ins, by GET and by a field that no cache takes for a secret", arguments: [true, false])
    func signIns(isCoalescing: Bool) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = Self.transport(clock)
            let layer: any HttpInterceptor = isCoalescing ? RequestCoalescing() : HttpCache()
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.test",
                interceptors: [layer],
                transport: transport,
                clock: clock
            )
            let users = ["anna", "bert"].map { user in
                Session(
                    key: CredentialKey(issuer: "api.test", account: user),
                    rules: .bearer(refresh: { _ in BearerToken(accessToken: "none") }),
                    store: MemoryStore(),
                    clock: clock
                )
            }
            let login = AnyRequest(.get, ["login"], header: ["X-Device": "1"], as: BearerToken.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in users { group.addTask { try await user.signIn(by: login, with: service) } }
                try await group.waitForAll()
            }
            #expect(Set(users.map { $0.current?.credential.accessToken }) == ["token-1", "token-2"])
            #expect(transport.attempts.count == 2)
        }
    }

    @Test("refreshes, each of which the server sees")
    func refreshes() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = Self.transport(clock)
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.test",
                interceptors: [HttpCache()],
                transport: transport,
                clock: clock
            )
            let coordinator = RefreshCoordinator<String>(clock: clock) { _ in
                try await AnyRequest(.get, ["renew"], header: ["X-Device": "1"], as: BearerToken.self)
                    .schedule(with: service).accessToken
            }
            coordinator.signIn("token-0")
            let first = try await coordinator.refresh(rejecting: coordinator.credential())
            #expect(first.credential == "token-1")
            #expect(try await coordinator.refresh(rejecting: first).credential == "token-2")
        }
    }
}
