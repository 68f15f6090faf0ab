import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Unsafe credentials that diagnose() lists")
struct UnsafeRulesTests {
    /// A service whose retriers are composed in the order given; backoff has the coordinator for a gate.
    private static func service(
        _ world: TokenWorld,
        authorizesFirst: Bool,
        gate: (any RetryGate)? = nil,
        condition: RetryCondition = .standard
    ) -> AnyHttpService<HttpError> {
        let backoff = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .exponential(base: .milliseconds(500), jitter: .none)
                $0.gate = gate
                $0.condition = condition
            }
        )
        let authorization = AuthorizationRetrier.factory(world.coordinator)
        return world.service.with {
            $0.retrierFactory =
                authorizesFirst
                ? .composed(authorization, backoff) : .composed(backoff, authorization)
        }
    }

    private static func failure(of service: AnyHttpService<HttpError>) async -> HttpError? {
        do throws(HttpError) {
            _ = try await Ping.get.schedule(with: service)
            return nil
        } catch {
            return error
        }
    }

    /// A call whose retry is held back for ten seconds behind a gate; halfway something happens.
    private static func held(
        authorizesFirst: Bool,
        _ halfway: @escaping @Sendable (TokenWorld) async throws -> Void
    ) async throws -> (error: HttpError?, sentAfterwards: [String?], findings: [PolicyFinding]) {
        try await simulate { simulation in
            let world = TokenWorld(simulation, accepting: [1], answer: { _, _ in .status(500) })
            let service = Self.service(world, authorizesFirst: authorizesFirst, gate: world.coordinator)
            async let call = Self.failure(of: service)
            // Between the decision, which waits out pauses that are known, and the attempt.
            try await simulation.clock.sleep(for: .milliseconds(100))
            world.coordinator.close(try testOrigin(), for: .seconds(10))
            try await simulation.clock.sleep(for: .seconds(5))
            try await halfway(world)
            return (await call, Array(world.sentTokens.dropFirst()), service.diagnose())
        }
    }

    @Test("behind a gate, a retry goes out with a credential that has been replaced", arguments: [true, false])
    func gate(authorizesFirst: Bool) async throws {
        let (_, sentAfterwards, findings) = try await Self.held(authorizesFirst: authorizesFirst) { world in
            guard let credential = world.coordinator.current else { return }
            _ = try await world.coordinator.refresh(rejecting: credential)
        }
        #expect(sentAfterwards.first == "Bearer token-2")
        #expect(findings == [])
    }

    @Test("no retry goes out with the credential of a user who has signed out", arguments: [true, false])
    func signedOutAtGate(authorizesFirst: Bool) async throws {
        let (error, sentAfterwards, _) = try await Self.held(authorizesFirst: authorizesFirst) { world in
            world.coordinator.signOut()
        }
        #expect(sentAfterwards.isEmpty)
        #expect(error?.requiresSignIn == true, "\(String(describing: error))")
    }

    @Test("a retrier that repeats 401 in front sends the rejected credential again", arguments: [true, false])
    func unauthorized(authorizesFirst: Bool) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation)
            let condition = RetryCondition.standard.retrying(status: 401, because: "a test")
            let service = Self.service(world, authorizesFirst: authorizesFirst, condition: condition)
            _ = try await Ping.get.schedule(with: service)
            let rejected = Array(repeating: "Bearer token-1" as String?, count: authorizesFirst ? 1 : 4)
            #expect(world.sentTokens == rejected + ["Bearer token-2"])
            let findings: [PolicyFinding] = authorizesFirst ? [] : [.authorizationBehindRetries]
            #expect(service.diagnose() == findings)
        }
    }

    @Test("backoff in front, with neither gate nor 401, is no fault; nor is anything without authorization")
    func harmless() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation)
            let service = Self.service(world, authorizesFirst: false)
            _ = try await Ping.get.schedule(with: service)
            #expect(world.sentTokens == ["Bearer token-1", "Bearer token-2"])
            #expect(service.diagnose() == [])
            let pauses = OriginPauses()
            let alone = world.service.with {
                $0.retrierFactory = .composed(
                    BackoffRetrier.factory(.standard.with { $0.gate = pauses }),
                    .never
                )
            }
            #expect(alone.diagnose() == [])
        }
    }

    @Test("diagnose() knows that a coordinator's retriers authorize")
    func coordinator() {
        let coordinator = RefreshCoordinator(credential: "a") { $0 }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: .composed(
                BackoffRetrier.factory(
                    .standard.with { $0.condition = .standard.retrying(status: 401, because: "a test") }
                ),
                coordinator.authorization { _, _ in }
            )
        )
        #expect(service.diagnose() == [.authorizationBehindRetries])
        #expect(service.anonymous.diagnose() == [])
    }

    @Test(
        "a credential in the service's header is told by its name",
        arguments: ["Authorization", "proxy-authorization", "Cookie"]
    )
    func header(name: String) {
        let name = HttpHeader.Name(name)
        let service = AnyHttpService(apiUrl: "api.example.com").with { $0.header = ["Accept": "a/b", name: "s3cr3t"] }
        let findings = service.diagnose()
        #expect(findings == [.credentialInHeader(name)])
        #expect(findings.allSatisfy { !"\($0) \(String(reflecting: $0))".contains("s3cr3t") })
    }

    @Test("an idempotency key, the key of an app and other fields are no credential of a user")
    func harmlessHeader() {
        let service = AnyHttpService(apiUrl: "api.example.com").with {
            $0.header = ["Accept": "a/b", "Idempotency-Key": "1", "User-Agent": "tests", "X-Api-Key": "k"]
        }
        #expect(service.diagnose() == [])
    }

    @Test(
        "plain http to another machine is told, with the origin alone",
        arguments: [
            ("http://api.example.com:8080/v1?key=s3cr3t", "http://api.example.com:8080"),
            ("HTTP://user.example.com", "http://user.example.com"), ("http://127.0.0.1.example.com", nil),
            ("http://localhost:8080", ""), ("http://127.0.0.1", ""), ("http://[::1]:80", ""),
            ("api.example.com", ""), ("https://api.example.com", ""), ("not a url", ""),
        ]
    )
    func plainHttp(url: String, origin: String?) {
        let findings = AnyHttpService(apiUrl: url).diagnose()
        let origins = findings.map { finding in
            if case .plainHttp(let origin) = finding { origin.description } else { "\(finding)" }
        }
        let expected = origin ?? url
        #expect(origins == (expected.isEmpty ? [] : [expected]))
        #expect(!findings.description.contains("s3cr3t"))
    }

    @Test("a request that goes elsewhere over plain http is told once, and the service's own not twice")
    func request() throws {
        let service = AnyHttpService(apiUrl: "api.example.com").with { $0.usesSecureProtocol = false }
        #expect(service.diagnose().count == 1)
        #expect(service.diagnose(Ping(timeout: .seconds(1))).count == 1)
        let secure = AnyHttpService(apiUrl: "api.example.com")
        let other = Ping(timeout: .seconds(1), url: "http://images.example.com/1.png")
        guard case .plainHttp(let origin)? = secure.diagnose(other).first else {
            Issue.record("it should be found")
            return
        }
        #expect(origin.description == "http://images.example.com")
        #expect(secure.diagnose(Ping(timeout: .seconds(1), url: "http://localhost/1.png")) == [])
    }

    @Test(
        "each finding about an unsafe credential says what to do",
        arguments: [
            (
                .authorizationBehindRetries,
                """
                a 401 is answered by sending the rejected credential again, and not by a refresh: \
                put the retrier that authorizes first in `.composed`
                """
            ),
            (
                .credentialInHeader("Cookie"),
                """
                `Cookie` in `header` goes out with every request and is not refreshed when the server rejects it: \
                have a retrier put it on, made by `authorization` of a `RefreshCoordinator` or a session
                """
            ),
        ] as [(PolicyFinding, String)]
    )
    func descriptions(finding: PolicyFinding, text: String) {
        #expect(finding.description == text)
    }
}
