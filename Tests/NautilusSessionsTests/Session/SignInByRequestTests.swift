import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A sign-in by a request")
struct SignInByRequestTests {
    private struct ShopError: Error {
        let failure: HttpError
    }

    /// A store that fails, or takes a minute.
    private final class Store: StoreInFront {
        enum State { case fine, full, slow }

        let base = MemoryStore()
        let state = Locked(State.fine)
        private let clock: ManualClock

        init(_ clock: ManualClock) { self.clock = clock }

        func pass(_ operation: StoreOperation) async throws {
            switch state.withLock({ $0 }) {
            case .fine: break
            case .full: throw CredentialStoreError.full(place: "disk")
            case .slow: try await clock.sleep(for: .seconds(60))
            }
        }
    }

    private struct World: SimulatedWorld {
        let clock: ManualClock
        let server: ScriptedTransport
        let store: Store
        let session: Session<BearerToken>
        let service: AnyHttpService<ShopError>

        init(_ simulation: Simulated) {
            clock = simulation.clock
            server = ScriptedTransport(clock: clock)
            store = Store(clock)
            let rules = SessionRules.bearer { _ in throw RefreshError.Terminal("never refreshed") }
            session = Session(key: CredentialKey(issuer: "api.test"), rules: rules, store: store, clock: clock)
            service = AnyHttpService(
                apiUrl: "api.test",
                retrierFactory: session.retrierFactory(.atOnce),
                transport: server,
                clock: clock
            ).mappingErrors { ShopError(failure: $0) }
        }

        /// Signs in, and returns the service's error.
        func signIn() async -> ShopError? {
            do throws(ShopError) {
                try await session.signIn(by: AnyRequest(.post, ["login"], as: BearerToken.self), with: service)
                return nil
            } catch {
                return error
            }
        }
    }

    private static let reply = ScriptedReply.reply(text: #"{"access_token": "a"}"#)

    @Test("a sign-in by a request begins the session of the credential that it brings, and is sent anonymously")
    func signsIn() async throws {
        try await World.run { world in
            try await world.session.signIn(BearerToken(accessToken: "of-another"))
            world.server.on(.post, "/login", Self.reply)
            #expect(await world.signIn() == nil)
            #expect(world.session.current?.credential == BearerToken(accessToken: "a"))
            #expect(world.server.attempts.map(\.header[.authorization]) == [nil])
        }
    }

    @Test("a refused sign-in leaves the session as it is, and throws the service's error", arguments: [true, false])
    func refused(isSignedIn: Bool) async throws {
        try await World.run { world in
            if isSignedIn { try await world.session.signIn(BearerToken(accessToken: "of-another")) }
            world.server.on(.post, "/login", .status(401))
            let error = await world.signIn()
            #expect(error?.failure.kind == .status(401))
            #expect(error?.failure.requiresSignIn == false)
            #expect(world.session.isSignedIn == isSignedIn)
        }
    }

    @Test("a sign-in whose credential cannot be stored signs in all the same, and throws the service's error")
    func unsaved() async throws {
        try await World.run { world in
            world.store.state.withLock { $0 = .full }
            world.server.on(.post, "/login", Self.reply)
            let error = await world.signIn()
            guard case .store? = (error?.failure.underlying as? SessionError)?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(world.session.isSignedIn)
        }
    }

    @Test("a cancelled sign-in by a request throws a cancellation")
    func cancelled() async throws {
        try await World.run { world in
            world.server.on(.post, "/login", .hang)
            let signIn = BackgroundTask.start {
                let error = await world.signIn()
                #expect(error?.failure.kind == .cancelled)
            }
            try await world.sleep(.seconds(1))
            signIn.cancel()
            await signIn.value
            #expect(!world.session.isSignedIn)
        }
    }

    @Test("a sign-in that is cancelled while its credential is being saved throws a cancellation")
    func cancelledSaving() async throws {
        try await World.run { world in
            world.store.state.withLock { $0 = .slow }
            world.server.on(.post, "/login", Self.reply)
            let signIn = BackgroundTask.start {
                let error = await world.signIn()
                #expect(error?.failure.kind == .cancelled)
            }
            try await world.sleep(.seconds(1))
            signIn.cancel()
            await signIn.value
            #expect(world.session.isSignedIn)
        }
    }
}
