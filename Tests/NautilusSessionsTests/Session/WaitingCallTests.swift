import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("Waiting calls and sign-outs")
struct WaitingCallTests {
    /// Fails by itself, without sending anything, and asks for patience.
    private struct Patient: NetworkInterceptor {
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            throw HttpError(
                .transport(.networkConnectionLost),
                stage: .send,
                delivery: .notSent,
                retryAfter: .seconds(40)
            )
        }
    }

    /// What a call waits for.
    enum Wait: CaseIterable {
        case interceptorsRetry, circuit, network, sharedRetry, sharedExchange, store
    }

    /// A store whose looks take minutes while it is told so.
    private struct HangingStore: StoreInFront {
        let base: MemoryStore
        let clock: ManualClock
        let hangs = Locked(false)

        func pass(_ operation: StoreOperation) async throws {
            guard hangs.withLock({ $0 }) else { return }
            await BackgroundTask.start { [clock] in try? await clock.sleep(for: .seconds(300)) }.value
        }
    }

    @Test(
        "a call that waits for anything but its answer fails at once when its user signs out",
        arguments: Wait.allCases
    )
    func waits(for wait: Wait) async throws {
        try await TokenWorld.run { world in
            let store = HangingStore(base: world.store, clock: world.clock)
            let session = wait == .store ? world.process(store: store) : world.process()
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let transport = ScriptedTransport(clock: world.clock) { _, _ in
                switch wait {
                case .network: .fail(.notConnectedToInternet, delivery: .notSent)
                case .sharedRetry: .delay(.seconds(1), then: .status(503, header: ["Retry-After": "50"]))
                case .sharedExchange: .delay(.seconds(55), then: .reply(text: "late"))
                default: .status(503)
                }
            }
            let accounts = CacheAccounts.separate { _ in session.id?.uuidString }
            let interceptors: [any HttpInterceptor] =
                switch wait {
                case .interceptorsRetry: [Patient()]
                case .circuit: [CircuitBreaker(clock: world.clock)]
                case .sharedRetry, .sharedExchange: [RequestCoalescing(accounts: accounts)]
                case .network, .store: []
                }
            let service = world.api.with {
                $0.transport = transport
                $0.interceptors = interceptors
                $0.retrierFactory = session.retrierFactory(
                    .standard.with {
                        guard wait == .network else { return }
                        $0.offline = OfflinePause(connectivity: ConnectivitySwitch(isOnline: false))
                    }
                )
            }
            if wait == .circuit {
                let eager = service.with { $0.retrierFactory = .never }
                for _ in 0..<100 { _ = await GetNotes().result(with: eager) }
            }
            if wait == .sharedRetry || wait == .sharedExchange {
                BackgroundTask.start { _ = await GetNotes().result(with: service) }
                try await world.sleep(.milliseconds(10))
            }
            store.hangs.withLock { $0 = true }
            let result = Locked<CallResult?>(nil)
            BackgroundTask.start {
                let ended = await GetNotes().result(with: service)
                result.withLock { $0 = ended }
            }
            try await world.sleep(wait == .circuit ? .milliseconds(500) : .seconds(3))
            #expect(result.withLock { $0 } == nil)
            let sent = transport.count
            let signOut = session.signOutNow()
            try await world.sleep(.milliseconds(10))
            let ended = try #require(result.withLock { $0 })
            #expect(ended.error?.requiresSignIn == true)
            #expect(transport.count == sent)
            store.hangs.withLock { $0 = false }
            try? await signOut.finish()
        }
    }

    /// Waits for a number, which comes whatever happens.
    private struct Numbered: CallInterceptor {
        let clock: ManualClock
        let number = Locked<Int?>(nil)

        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            let found = try await context.wait { [clock] in
                await BackgroundTask.start { try? await clock.sleep(for: .seconds(1)) }.value
                return 7
            }
            number.withLock { $0 = found }
            return try await next(request)
        }
    }

    @Test("the value that a wait still returns when the caller leaves, such as a slot, is not lost")
    func lateValue() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let numbered = Numbered(clock: world.clock)
            let service = world.api.with {
                $0.interceptors = [numbered]
                $0.retrierFactory = session.authorization
            }
            let call = BackgroundTask.start { _ = await GetNotes().result(with: service) }
            try await world.sleep(.milliseconds(500))
            call.cancel()
            await call.value
            #expect(numbered.number.withLock { $0 } == 7)
        }
    }

    /// Has a credential for some requests only.
    private struct Choosy: Retrier {
        let credentials: [any CallCredential]
        var backoff: any Retrier

        init(_ session: Session<ApiToken>, for request: any Request) {
            let authorizer = CallAuthorizer(session) { $1.header["X-Api-Token"] = $0.value }
            credentials = request is GetElsewhere ? [authorizer] : []
            backoff = BackoffRetrier.factory().create(for: request)
        }

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            await backoff.retry(request, failingWith: error)
        }
    }

    @Test("a call whose retrier names no credential goes on whoever signs out or in", arguments: [true, false])
    func anonymousByRetrier(isSignedIn: Bool) async throws {
        try await TokenWorld.run { world in
            let session = isSignedIn ? try await world.signedIn() : world.process()
            let transport = ScriptedTransport(.status(503), .reply(text: "a"), clock: world.clock)
            let service = world.api.with {
                $0.transport = transport
                $0.retrierFactory = AnyRetrierFactory { request in Choosy(session, for: request) }
            }
            let result = Locked<CallResult?>(nil)
            let call = BackgroundTask.start {
                let ended = await GetNotes().result(with: service)
                result.withLock { $0 = ended }
            }
            try await world.sleep(.milliseconds(1))
            if isSignedIn {
                try await session.signOut()
            } else {
                try await session.signIn(world.server.signIn("anna", at: world.date))
            }
            await call.value
            #expect(result.withLock { $0 }?.text == "a")
        }
    }

    @Test("an anonymous call among a user's goes on through a sign-out")
    func anonymous() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let transport = ScriptedTransport(
                .reply(text: "user"),
                .status(503),
                .reply(text: "anonymous"),
                clock: world.clock
            )
            let service = world.api.with {
                $0.transport = transport
                $0.retrierFactory = session.retrierFactory
            }
            let body = Locked<String?>(nil)
            _ = try await GetNotes().response(with: service)
            let call = BackgroundTask.start {
                let response = try? await GetNotes().response(with: service.anonymous)
                body.withLock { $0 = response?.body }
            }
            try await world.sleep(.milliseconds(1))
            try await session.signOut()
            await call.value
            #expect(body.withLock { $0 } == "anonymous")
        }
    }

    @Test("a call to another origin, which gets no credential, ends with its session as well")
    func elsewhere() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let transport = ScriptedTransport(.status(503), .reply(text: "a"), clock: world.clock)
            let service = world.api.with {
                $0.transport = transport
                $0.retrierFactory = session.retrierFactory
            }
            let result = Locked<CallResult?>(nil)
            let call = BackgroundTask.start {
                let ended = await GetElsewhere().result(with: service)
                result.withLock { $0 = ended }
            }
            try await world.sleep(.milliseconds(1))
            try await session.signOut()
            await call.value
            #expect(result.withLock { $0 }?.error?.requiresSignIn == true)
            #expect(transport.count == 1)
        }
    }
}

private struct GetElsewhere: Request {
    typealias Result = String
    var route: HttpRoute { [] }
    var url: (any UrlConvertible)? { "elsewhere.test" }
}
