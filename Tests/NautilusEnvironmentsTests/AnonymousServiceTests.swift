import Foundation
import Nautilus
import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@Suite("An anonymous service")
struct AnonymousServiceTests {
    private static func authorizing(_ coordinator: RefreshCoordinator<String>) -> any RetrierFactory {
        coordinator.authorization { token, request in request.header[.authorization] = "Bearer \(token)" }
    }

    @Test("an anonymous service keeps the attempts and delays of the service's retriers, and authorizes nothing")
    func policy() async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator(credential: "anna", clock: simulation.clock) { $0 }
            let transport = ScriptedTransport(.status(503), afterLast: .repeat)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: .composed(
                    Self.authorizing(coordinator),
                    steadyBackoff(maxAttempts: 5, gate: coordinator)
                ),
                transport: transport,
                clock: simulation.clock
            )
            let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service.anonymous) }
            #expect(error?.trace.delays == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
            #expect(transport.attempts.map { $0.header[.authorization] } == [nil, nil, nil, nil, nil])
        }
    }

    @Test("a call through the service itself is authorized if somebody is signed in", arguments: [true, false])
    func unlessSignedIn(isSignedIn: Bool) async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: Self.authorizing(RefreshCoordinator(credential: "anna") { $0 }),
            transport: transport
        )
        _ = try await Ping.get.schedule(with: service.anonymous(unless: isSignedIn))
        #expect(transport.attempts.map { $0.header[.authorization] } == [isSignedIn ? "Bearer anna" : nil])
    }

    @Test("an anonymous service pays from the service's own budget")
    func budget() async throws {
        let transport = ScriptedTransport(.status(503), afterLast: .repeat)
        let budget = TokenBucketBudget(capacity: 1)
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.budget = .shared(budget)
                }
            ),
            transport: transport
        )
        for attempts in [2, 1] {
            let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service.anonymous) }
            #expect(error?.trace.attempts.count == attempts)
        }
    }

    @Test("an anonymous service is the same service if nothing authorizes: without retries, one attempt")
    func plain() async throws {
        let transport = ScriptedTransport(.status(503), afterLast: .repeat)
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service.anonymous) }
        #expect(transport.count == 1)
    }

    @Test("an anonymous service keeps a retrier of one's own, and sends none of its credentials")
    func custom() async throws {
        struct Own: Retrier {
            var credentials: [any CallCredential] { [WrittenCredential { $0.header[.authorization] = "anna" }] }
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { true }
        }
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let factory = AnyRetrierFactory { Own() }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: .composed(factory, .never),
            transport: transport
        )
        _ = try? await Ping.get.schedule(with: service.anonymous)
        #expect(transport.attempts.map { $0.request.header[.authorization] } == [nil, nil])
    }

    @Test("an anonymous service's retries wait for an origin's pause, but for no refresh")
    func gate() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: "anna", clock: clock) { token in
                try await clock.sleep(for: .seconds(20))
                return token
            }
            let transport = ScriptedTransport(.status(503, header: ["Retry-After": "3"]), .reply(text: "ok"))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: .composed(
                    Self.authorizing(coordinator),
                    steadyBackoff(gate: coordinator)
                ),
                transport: transport,
                clock: clock
            )
            async let refreshed = coordinator.refresh(rejecting: coordinator.credential())
            try await clock.sleep(for: .seconds(1))
            _ = try await Ping.get.schedule(with: service.anonymous)
            #expect(clock.now.offset == .seconds(4))
            _ = try await refreshed
            #expect(clock.now.offset == .seconds(20))
        }
    }

    @Test("a refresh through it is retried by the service's rules, and is never sent twice where it may have run")
    func refresh() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport()
                .on(.post, "/renewal", .status(503, header: ["Retry-After": "1"]), .fail(.networkConnectionLost))
                .on(.get, "/things", .status(401))
            let policy = BackoffRetrier.factory(
                .atOnce.with {
                    $0.retriesNonIdempotentRequests = true
                }
            )
            let plain = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: policy,
                transport: transport,
                clock: clock
            )
            let coordinator = RefreshCoordinator(credential: "anna", clock: clock) { _ in
                do throws(HttpError) {
                    return try await Ping(method: .post, route: ["renewal"]).schedule(with: plain.anonymous)
                } catch {
                    // So that the coordinator does not ask again.
                    throw RefreshError.Terminal("the refresh failed", underlying: error)
                }
            }
            let service = plain.with { $0.retrierFactory = Self.authorizing(coordinator) }
            await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
            #expect(transport.count(of: .post, "/renewal") == 2)
            #expect(transport.count(of: .get, "/things") == 1)
        }
    }

    @Test("an anonymous service of a switch follows the selection, and keeps a call where it began")
    func switched() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.status(503), .reply(text: "ok"), .reply(text: "ok"))
            let sites = ServiceSwitch("staging") {
                AnyHttpService(
                    apiUrl: "\($0).example.com",
                    retrierFactory: steadyBackoff(),
                    transport: transport,
                    clock: clock
                )
            }
            let anonymous = sites.anonymous
            async let first = Ping.get.schedule(with: anonymous)
            try await clock.sleep(for: .milliseconds(100))
            sites.select("production")
            _ = try await first
            _ = try await Ping.get.schedule(with: anonymous)
            let hosts = transport.attempts.map(\.request.url.host)
            #expect(hosts == ["staging.example.com", "staging.example.com", "production.example.com"])
        }
    }

    @Test("any service with one error is a type")
    func primaryAssociatedType() async throws {
        func read(with service: any HttpService<HttpError>) async throws(HttpError) -> String {
            try await Ping.get.schedule(with: service)
        }
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "ok")))
        #expect(try await read(with: service) == "ok")
    }
}
