import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("The account of a call in caches", .endsInTime)
struct CallAccountTests {
    /// A service with one session for each account: a call is authorized as the user of the moment at which it began.
    private struct World: Sendable {
        let clock: ManualClock
        let user = Locked("anna")
        let transport: ScriptedTransport
        let service: AnyHttpService<HttpError>

        /// - Parameters:
        ///   - parts: Makes interceptors and hook of whose they keep apart.
        ///   - asyncHeader: Passed before each attempt is built.
        init(
            _ clock: ManualClock,
            asyncHeader: @escaping @Sendable (Locked<String>) async throws -> Void = { _ in },
            _ parts: (Locked<String>) -> (interceptors: [any HttpInterceptor], hook: any ServiceHook),
            responder: @escaping ScriptedReply.Responder
        ) {
            self.clock = clock
            transport = ScriptedTransport(clock: clock, responder: responder)
            let (interceptors, hook) = parts(user)
            let user = user
            service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: interceptors,
                retrierFactory: AnyRetrierFactory(sharingKey: SharingKey("user")) { [user] in
                    OneUserRetrier(user: user.withLock { $0 })
                },
                transport: transport,
                clock: clock
            ).with {
                $0.hook = hook
                $0.asyncHeader = { [user] in
                    try await asyncHeader(user)
                    return [:]
                }
            }
        }

        func signIn(_ name: String) { user.withLock { $0 = name } }

        func get() async -> String {
            do { return try await GetMail().schedule(with: service) } catch { return "\(error.kind)" }
        }
    }

    private struct GetMail: Request, Hashable {
        typealias Result = String
        var route: HttpRoute { ["mail"] }
        func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    private static func mail(of request: HttpRequest) -> ScriptedReply {
        .reply(header: ["Cache-Control": "max-age=600"], text: "\(request.header[.authorization] ?? "nobody")'s mail")
    }

    private static func accounts(_ user: Locked<String>) -> CacheAccounts { .separate { _ in user.withLock { $0 } } }

    /// A user changes while anna's call waits to send again; her answer must not become bert's.
    @Test("a cache stores nothing of a call whose account has changed before its second attempt")
    func cacheBetweenAttempts() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { user in
                ([HttpCache(accounts: Self.accounts(user))], NilServiceHook())
            } responder: { request, context in
                context.number == 1 ? .status(503) : Self.mail(of: request)
            }
            async let annas = world.get()
            try await simulation.clock.sleep(for: .milliseconds(500))
            world.signIn("bert")
            #expect(await annas == "anna's mail")
            #expect(await world.get() == "bert's mail")
        }
    }

    @Test("nothing is kept of a call whose account has changed while its header was made")
    func cacheBeforeAttempt() async throws {
        try await simulate { simulation in
            let (clock, isFirst) = (simulation.clock, Locked(true))
            let world = World(clock) { user in
                guard isFirst.withLock({ $0 }) else { return }
                isFirst.withLock { $0 = false }
                try await clock.sleep(for: .milliseconds(5))
                user.withLock { $0 = "bert" }
            } _: { user in
                ([HttpCache(accounts: Self.accounts(user))], NilServiceHook())
            } responder: { request, _ in
                Self.mail(of: request)
            }
            #expect(await world.get() == "anna's mail")
            #expect(await world.get() == "bert's mail")
            world.signIn("anna")
            #expect(await world.get() == "anna's mail")
            #expect(world.transport.count == 3)
        }
    }

    @Test("a second attempt is answered neither by what is stored for the next user, fresh or for an error")
    func storedForOther() async throws {
        try await simulate { simulation in
            let isRefusing = Locked(false)
            let refusing = Refusing(isRefusing: isRefusing)
            let world = World(simulation.clock) { user in
                ([HttpCache(accounts: Self.accounts(user), staleIfError: .seconds(600)), refusing], NilServiceHook())
            } responder: { request, _ in
                request.header[.authorization] == "anna" ? .status(503) : Self.mail(of: request)
            }
            async let annas = world.get()
            try await simulation.clock.sleep(for: .milliseconds(500))
            world.signIn("bert")
            #expect(await world.get() == "bert's mail")
            isRefusing.withLock { $0 = true }
            // Refused before it is authorized: nothing on the wire tells that it was anna's.
            #expect(await annas == "not sent: the circuit is open, and its probe under way")
        }
    }

    @Test("two users' calls share no exchange, though one asks again when the other is asking")
    func coalescing() async throws {
        try await simulate { simulation in
            let world = World(simulation.clock) { user in
                ([RequestCoalescing(accounts: Self.accounts(user))], NilServiceHook())
            } responder: { request, context in
                context.number == 1 && request.header[.authorization] == "anna"
                    ? .status(503) : .delay(.seconds(5), then: Self.mail(of: request))
            }
            async let annas = world.get()
            try await simulation.clock.sleep(for: .milliseconds(500))
            world.signIn("bert")
            async let earlier = world.get()
            // Anna's has been sent again.
            try await simulation.clock.sleep(for: .seconds(1))
            async let later = world.get()
            #expect(await (annas, earlier, later) == ("anna's mail", "bert's mail", "bert's mail"))
            #expect(world.transport.count == 3)
        }
    }

    @Test(
        "a call that has changed hands before its attempt is answered neither by what is stored nor by who asks already"
    )
    func passesBy() async throws {
        try await simulate { simulation in
            let (clock, switches) = (simulation.clock, Locked(false))
            for isStored in [true, false] {
                let world = World(clock) { user in
                    if switches.withLock({ $0 }) { user.withLock { $0 = "bert" } }
                } _: { user in
                    let accounts = Self.accounts(user)
                    return (
                        isStored ? [HttpCache(accounts: accounts)] : [RequestCoalescing(accounts: accounts)],
                        NilServiceHook()
                    )
                } responder: { request, _ in
                    isStored ? Self.mail(of: request) : .delay(.seconds(5), then: Self.mail(of: request))
                }
                switches.withLock { $0 = false }
                async let first = world.get()
                try await clock.sleep(for: .seconds(1))
                switches.withLock { $0 = true }
                async let second = world.get()
                try await clock.sleep(for: .seconds(1))
                #expect(world.transport.count == 2)
                // Back in time for the first one's answer, whose it was all along.
                world.signIn("anna")
                #expect(await (first, second) == ("anna's mail", "anna's mail"))
            }
        }
    }

    @Test("a hook remembers nothing of a call that was begun for another user, before it was asked itself")
    func hook() async throws {
        try await simulate { simulation in
            let (clock, switches) = (simulation.clock, Locked(true))
            let world = World(clock) { user in
                let switching = Switching {
                    guard switches.withLock({ $0 }) else { return }
                    try await clock.sleep(for: .milliseconds(5))
                    user.withLock { $0 = "bert" }
                }
                let cache = CachingServiceHook(for: .seconds(300), account: { user.withLock { $0 } }, clock: clock)
                return ([], switching.around(cache))
            } responder: { request, _ in
                Self.mail(of: request)
            }
            #expect(await world.get() == "anna's mail")
            switches.withLock { $0 = false }
            #expect(await world.get() == "bert's mail")
            // Nor is a call answered that has changed hands since it began.
            switches.withLock { $0 = true }
            world.signIn("anna")
            #expect(await world.get() == "anna's mail")
            #expect(world.transport.count == 3)
        }
    }
}

/// Authorizes as one user, and tries once more a second later.
private struct OneUserRetrier: Retrier {
    let user: String
    var hasRetried = false

    var credentials: [any CallCredential] { [WrittenCredential { [user] in $0.header[.authorization] = user }] }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        guard !hasRetried else { return .doNotRetry }
        hasRetried = true
        return .retry(after: .seconds(1))
    }
}

/// Refuses what it is told to refuse.
private struct Refusing: NetworkInterceptor {
    let isRefusing: Locked<Bool>

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        if isRefusing.withLock({ $0 }) {
            throw HttpError(.refused(.circuitOpen(nextProbe: nil)), stage: .intercept, delivery: .notSent)
        }
        return try await next(request)
    }
}

/// Does something before a call goes on.
private struct Switching: ServiceHook {
    let work: @Sendable () async throws -> Void

    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        try await work()
        return nil
    }
}
