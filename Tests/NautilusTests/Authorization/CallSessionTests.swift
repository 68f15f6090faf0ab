import Foundation
import Nautilus
import NautilusCaching
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

/// A call belongs to the session in which it begins, and not to that in which its first request is authorized.
@Suite("A call that waits before its first request, while somebody else signs in")
struct CallSessionTests {
    /// Where a call may wait before its request is authorized.
    enum Place: CaseIterable {
        case limit, asyncHeader, hook, failedFirst, coalescing
    }

    private struct SlowHook: ServiceHook {
        let pause: @Sendable () async -> Void
        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            await pause()
            return nil
        }
    }

    /// Fails each first attempt before its request is authorized.
    private struct FailingFirst: NetworkInterceptor {
        func intercept(
            _ request: HttpRequest,
            context: AttemptContext,
            next: Next
        ) async throws -> HttpResponse<Data> {
            guard context.number > 1 else {
                throw HttpError(.transport(.notConnectedToInternet), stage: .intercept, delivery: .notSent)
            }
            return try await next(request)
        }
    }

    private struct World {
        let clock: ManualClock
        let coordinator: RefreshCoordinator<Token>
        let transport: ScriptedTransport

        init(_ simulation: Simulated, signedIn token: Token? = Token(number: 1)) {
            clock = simulation.clock
            coordinator = RefreshCoordinator(credential: token, clock: simulation.clock) { $0 }
            transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                .delay(.seconds(5), then: .reply(text: "ok"))
            }
        }

        func service(waitingAt place: Place) -> AnyHttpService<HttpError> {
            let pause: @Sendable () async -> Void = { try? await clock.sleep(for: .seconds(3)) }
            let interceptors: [any HttpInterceptor] =
                switch place {
                case .limit: [ConcurrencyLimit(1)]
                case .failedFirst: [FailingFirst()]
                case .coalescing: [RequestCoalescing(accounts: .separate { _ in "one" }), ConcurrencyLimit(1)]
                case .asyncHeader, .hook: []
                }
            return AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: interceptors,
                retrierFactory: .composed(
                    AuthorizationRetrier.factory(coordinator),
                    BackoffRetrier.factory(
                        .standard.with {
                            $0.budget = .unlimited
                            $0.gate = coordinator
                            // One in five hundred delays would be over before the next user has signed in.
                            $0.random = FixedRandomSource(1)
                        }
                    )
                ),
                transport: transport,
                clock: clock
            ).with {
                $0.hook = place == .hook ? SlowHook(pause: pause) : NilServiceHook()
                $0.asyncHeader = {
                    if place == .asyncHeader { await pause() }
                    return [:]
                }
            }
        }

        /// The `Authorization` fields of the requests for the waiting call's path.
        var carried: [String?] {
            transport.attempts.filter { $0.request.url.path == "/things" }.map { $0.header[.authorization] }
        }
    }

    @Test("a call that waits fails with its session's first end, and nothing of it is sent", arguments: Place.allCases)
    func firstEnd(place: Place) async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let service = world.service(waitingAt: place)
            // It has the only slot for five seconds.
            simulation.start { _ = try? await Ping(route: ["other"]).schedule(with: service) }
            if place == .limit || place == .coalescing { try await world.transport.waitForAttempts(count: 1) }
            async let call = Ping.get.result(with: service)
            async let follower = Ping.get.result(with: service)
            try await world.clock.sleep(for: .milliseconds(1))
            world.coordinator.signOut()
            world.coordinator.signIn(Token(number: 2))
            for result in await [call, follower] { #expect(result.isSignedOut) }
            #expect(world.carried.isEmpty)
        }
    }

    @Test("a call that began while nobody was signed in does not go out as the user who signs in later")
    func signedOut() async throws {
        try await simulate { simulation in
            let world = World(simulation, signedIn: nil)
            async let call = Ping.get.result(with: world.service(waitingAt: .hook))
            try await world.clock.sleep(for: .seconds(1))
            world.coordinator.signIn(Token(number: 2))
            #expect(await call.isSuperseded)
            #expect(world.carried.isEmpty)
        }
    }

    @Test("a wait for the end of a session lasts through a refresh, and ends at once if the session is over")
    func end() async throws {
        try await simulate { simulation in
            let world = World(simulation)
            let (session, isOver) = (world.coordinator.session, Locked(false))
            simulation.start {
                await session.waitForEnd()
                isOver.withLock { $0 = true }
            }
            try await world.clock.sleep(for: .seconds(1))
            world.coordinator.replace(try #require(world.coordinator.current), with: Token(number: 2))
            try await world.clock.sleep(for: .seconds(1))
            #expect(isOver.withLock { !$0 })
            world.coordinator.signOut()
            try await world.clock.sleep(for: .seconds(1))
            #expect(isOver.withLock { $0 })
            await session.waitForEnd()
        }
    }

    @Test("a session does not end when it becomes known that it has been going on all along")
    func endOfOneThatBecomesKnown() async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator<Token>(clock: simulation.clock) { $0 }
            let (session, isOver) = (coordinator.session, Locked(false))
            simulation.start {
                await session.waitForEnd()
                isOver.withLock { $0 = true }
            }
            try await simulation.clock.sleep(for: .seconds(1))
            coordinator.adopt(.signedIn(Token(number: 1)), since: coordinator.epoch)
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(coordinator.current != nil)
            #expect(isOver.withLock { !$0 })
            coordinator.signOut()
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(isOver.withLock { $0 })
        }
    }

    @Test("a call that began before a refresh, in the same session, goes out with the fresh credential")
    func refreshedMeanwhile() async throws {
        try await simulate { simulation in
            let world = World(simulation)
            async let call = Ping.get.result(with: world.service(waitingAt: .hook))
            try await world.clock.sleep(for: .seconds(1))
            let credential = try #require(world.coordinator.current)
            world.coordinator.replace(credential, with: Token(number: 2))
            #expect(await call.isOk)
            #expect(world.carried == ["Bearer token-2"])
        }
    }

    @Test("a call whose session is over does not wait for the refresh of the user who has signed in")
    func waitsForNoOther() async throws {
        try await simulate { simulation in
            let refreshes = Counter()
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { $0.number == 1 ? nil : .zero },
                clock: simulation.clock
            ) { token in
                refreshes.increment()
                return Token(number: token.number + 1)
            }
            let authorizer = CallAuthorizer(coordinator) { $1.header[.authorization] = $0.accessToken }
            coordinator.signIn(Token(number: 2))
            var request = HttpRequest(url: try #require(URL(string: "https://api.example.com/")))
            #expect(throws: RefreshError.self) { try authorizer.authorize(&request) }
            await #expect(throws: RefreshError.self) { try await authorizer.ready() }
            #expect(request.header[.authorization] == nil)
            #expect(refreshes.value == 0)
        }
    }

    @Test("a session that is merely read from a store after the call began is the one that it began in")
    func restored() async throws {
        let coordinator = RefreshCoordinator<String>(clock: TestClock()) { $0 }
        let session = coordinator.session
        #expect(coordinator.adopt(.signedIn("a"), since: coordinator.epoch))
        #expect(coordinator.session === session)
        #expect(try await coordinator.credential().session === session)
        coordinator.adopt(.signedIn("b"), since: coordinator.epoch)
        #expect(coordinator.session !== session)
        #expect(try await coordinator.credential().session === coordinator.session)
    }

    @Test("nobody was signed in when the store was read first: whoever is later has signed in since")
    func restoredEmpty() {
        let coordinator = RefreshCoordinator<String>(clock: TestClock()) { $0 }
        let session = coordinator.session
        coordinator.adopt(.signedOut, since: coordinator.epoch)
        coordinator.adopt(.signedIn("a"), since: coordinator.epoch)
        #expect(coordinator.session !== session)
    }
}
