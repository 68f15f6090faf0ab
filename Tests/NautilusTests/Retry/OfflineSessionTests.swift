import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("A wait for a network, and the end of the session")
struct OfflineSessionTests {
    /// Fails each attempt as a device without a network does, before or after its request is stamped.
    private struct Offline: HttpInterceptor {
        let connectivity: ConnectivitySwitch
        let isBeforeStamp: Bool

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            let failure = TransportError.failed(.notConnectedToInternet, delivery: .notSent, reason: "")
            if isBeforeStamp, !connectivity.isOnline { throw failure }
            return try await next(request)
        }
    }

    /// Holds the credential, and stamps nothing with it, as for a path that needs none.
    private struct Unstamping: Retrier {
        var lease: CredentialLease<RefreshCoordinator<Token>>

        func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { .doNotRetry }
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

        func service(isBeforeStamp: Bool = false, isUnstamping: Bool = false) -> AnyHttpService<HttpError> {
            let authorization: any RetrierFactory =
                isUnstamping
                ? AnyRetrierFactory { [coordinator] in Unstamping(lease: CredentialLease(coordinator)) }
                : AuthorizationRetrier.factory(coordinator)
            let backoff = BackoffRetrier.factory(
                .standard.with {
                    $0.offline = OfflinePause(connectivity: connectivity, clock: clock)
                    $0.random = FixedRandomSource(0)
                }
            )
            return AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Offline(connectivity: connectivity, isBeforeStamp: isBeforeStamp)],
                retrierFactory: ComposedRetrier.factory(authorization, backoff),
                transport: transport,
                clock: clock
            )
        }
    }

    @Test("it ends at once, whether the attempt had failed before its request was stamped", arguments: [false, true])
    func signedOut(isBeforeStamp: Bool) async throws {
        try await World.run { world in
            async let call = Ping.get.result(with: world.service(isBeforeStamp: isBeforeStamp))
            try await world.sleep(.seconds(2))
            world.coordinator.signOut()
            let result = await call
            #expect(result.isSignedOut)
            #expect(result.error?.sequence == nil)
            #expect(world.clock.now.offset == .seconds(2))
        }
    }

    @Test("it goes on where the request carries no credential, with one attempt more")
    func unstamped() async throws {
        try await World.run { world in
            async let call = Ping.get.result(with: world.service(isUnstamping: true))
            try await world.sleep(.seconds(2))
            world.coordinator.signIn(Token(number: 2))
            try await world.sleep(.seconds(3))
            world.connectivity.set(isOnline: true)
            let result = await call
            #expect(result.text == "ok")
            #expect(world.transport.attempts.map(\.start) == [.zero, .seconds(5)])
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
