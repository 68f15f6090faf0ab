import Foundation
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A wait for a network, and the end of the session")
struct OfflineSessionTests {
    /// Fails each attempt as a device without a network does, before or after its request is authorized.
    private struct Offline: NetworkInterceptor {
        let connectivity: ConnectivitySwitch
        let isEarly: Bool

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            let failure = TransportError.failed(.notConnectedToInternet, delivery: .notSent, reason: "")
            if isEarly, !connectivity.isOnline { throw failure }
            return try await next(request)
        }
    }

    private struct World: SimulatedWorld {
        let clock: ManualClock
        let connectivity = ConnectivitySwitch(isOnline: false)
        let coordinator: RefreshCoordinator<Token>
        let transport: ScriptedTransport

        init(_ simulation: Simulated) {
            clock = simulation.clock
            coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { $0 }
            transport = ScriptedTransport(clock: clock) { [connectivity] _, _ in
                connectivity.isOnline ? .reply(text: "ok") : .fail(.notConnectedToInternet, delivery: .notSent)
            }
        }

        /// - Parameters:
        ///   - failsEarly: Whether an attempt fails before its request is authorized.
        ///   - writesNothing: Whether the credential writes nothing, as for a path that needs none.
        func service(failsEarly: Bool = false, writesNothing: Bool = false) -> AnyHttpService<HttpError> {
            let authorization =
                writesNothing
                ? AnyRetrierFactory.authorizing(with: WrittenCredential(in: coordinator.session) { _ in })
                : AuthorizationRetrier.factory(coordinator)
            let backoff = BackoffRetrier.factory(
                .standard.with {
                    $0.offline = OfflinePause(connectivity: connectivity, clock: clock)
                    $0.random = FixedRandomSource(0)
                }
            )
            return AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Offline(connectivity: connectivity, isEarly: failsEarly)],
                retrierFactory: .composed(authorization, backoff),
                transport: transport,
                clock: clock
            )
        }
    }

    @Test(
        "a wait for a network ends with the session, also if the attempt has failed before its request was authorized",
        arguments: [false, true]
    )
    func signedOut(failsEarly: Bool) async throws {
        try await World.run { world in
            async let call = Ping.get.result(with: world.service(failsEarly: failsEarly))
            try await world.sleep(.seconds(2))
            world.coordinator.signOut()
            let result = await call
            #expect(result.isSignedOut)
            #expect(world.clock.now.offset == .seconds(2))
        }
    }

    @Test("a wait for a network ends with the session even if the request carries no credential")
    func withoutCredential() async throws {
        try await World.run { world in
            async let call = Ping.get.result(with: world.service(writesNothing: true))
            try await world.sleep(.seconds(2))
            world.coordinator.signIn(Token(number: 2))
            let result = await call
            #expect(result.isSuperseded)
            #expect(world.clock.now.offset == .seconds(2))
            #expect(world.transport.attempts.map(\.start) == [.zero])
        }
    }

    @Test("connections of a stream of one's own wait no longer, either")
    func connections() async throws {
        try await World.run { world in
            world.connectivity.set(isOnline: true)
            var connections = StreamConnections(of: Ping.get, with: world.service())
            _ = try await connections.open(Ping.get)
            world.connectivity.set(isOnline: false)
            BackgroundTask.start {
                try? await world.sleep(.seconds(2))
                world.coordinator.signOut()
            }
            let end = HttpError(
                .transport(.networkConnectionLost),
                stage: .decode,
                delivery: .notSent,
                request: RequestSummary(try .test(), serviceOrigin: trafficOrigin)
            )
            try? await connections.waitForNext(after: end)
            #expect(world.clock.now.offset == .seconds(2))
        }
    }
}
