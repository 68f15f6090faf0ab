import Foundation
import Nautilus
import NautilusCaching
import NautilusEnvironments
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Anonymous calls and users' calls of one service")
struct AnonymousCallTests {
    @Test("an anonymous call and a user's are given nothing that a cache has of the other", arguments: [true, false])
    func cached(anonymousFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "anonymous")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            if anonymousFirst {
                #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous")
                #expect(try await GetPrices().schedule(with: service) == "anna-1")
            } else {
                #expect(try await GetPrices().schedule(with: service) == "anna-1")
                #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous")
            }
        }
    }

    @Test(
        "an anonymous request carries no credential, refreshes none, and shares the answers to anonymous calls",
        arguments: [true, false]
    )
    func anonymousRequest(isDerived: Bool) async throws {
        struct PricesForAll: Request {
            var isAnonymous: Bool { true }
            var route: HttpRoute { ["prices"] }
            func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
        }
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "anonymous")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            let prices = isDerived ? GetPrices().with { $0.isAnonymous = true } : AnyRequest(PricesForAll())
            try await world.sleep(.seconds(3600))
            #expect(try await prices.schedule(with: service) == "anonymous")
            #expect(world.server.refreshes == [])
            #expect(try await GetPrices().schedule(with: service) == "anna-2")
            #expect(try await prices.schedule(with: service) == "anonymous")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
            try await session.signOut()
            #expect(try await prices.schedule(with: service) == "anonymous")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    /// Retriers for users, of which anonymous calls are given none.
    private struct UserRetriers: RetrierFactory {
        let made = Locked(0)

        var anonymous: any RetrierFactory { .never }

        func create<R: Request>(for request: R) -> any Retrier {
            made.withLock { $0 += 1 }
            return NilRetrier()
        }
    }

    @Test("an anonymous request has the retriers that its service has for anonymous calls")
    func anonymousRetriers() async throws {
        try await TokenWorld.run { world in
            world.server.transport.on(.get, "/prices", .reply(text: "anonymous"), afterLast: .repeat)
            let retriers = UserRetriers()
            let service = world.api.with { $0.retrierFactory = retriers }
            _ = try await GetPrices().with { $0.isAnonymous = true }.schedule(with: service)
            #expect(retriers.made.withLock { $0 } == 0)
            _ = try await GetPrices().schedule(with: service)
            #expect(retriers.made.withLock { $0 } == 1)
        }
    }

    @Test("an anonymous call is not given a result that a hook remembers for a user, if it tells users apart")
    func hooked() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let hook = CachingServiceHook(for: .seconds(300), account: { session.id?.uuidString })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(text: request.header["X-Api-Token"] ?? "anonymous")
            }
            let service = world.api.with {
                $0.hook = hook
                $0.retrierFactory = session.retrierFactory
            }
            #expect(try await Prices().schedule(with: service) == "anna-1")
            #expect(try await Prices().schedule(with: service.anonymous) == "anonymous")
            #expect(try await Prices().schedule(with: service) == "anna-1")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    @Test("a user is not given an answer to an anonymous call while it is not known yet who is signed in")
    func unknownUser() async throws {
        try await TokenWorld.run { world in
            let other = try await world.signedIn()
            let session = world.process()
            // As with a store that takes its time.
            let cache = HttpCache(accounts: .separate { _ in nil }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "anonymous")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            for _ in 1...2 { #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous") }
            #expect(try await GetPrices().schedule(with: service) == "anna-1")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
            #expect(other.isSignedIn)
        }
    }

    @Test("a user is not given an answer to an anonymous call if no account is named", arguments: [true, false])
    func unnamedAccounts(isCoalescing: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/prices") { request, _ in
                let token = request.header["X-Api-Token"]
                try await world.clock.sleep(for: .seconds(1))
                return .reply(header: ["Cache-Control": "max-age=60"], text: token ?? "anonymous")
            }
            let layer: any HttpInterceptor =
                isCoalescing ? RequestCoalescing() : HttpCache(wallClock: { world.date })
            let service = world.api.with {
                $0.interceptors = [layer]
                $0.retrierFactory = session.retrierFactory
            }
            async let first = GetPrices().schedule(with: service.anonymous)
            if !isCoalescing { _ = try await first }
            try await world.sleep(.milliseconds(200))
            async let user = GetPrices().schedule(with: service)
            async let anonymous = GetPrices().schedule(with: service.anonymous)
            let answers = try await [first, user, anonymous]
            #expect(answers == ["anonymous", "anna-1", "anonymous"])
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    @Test("an anonymous call and a user's do not share an answer that is under way", arguments: [true, false])
    func coalesced(anonymousFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let coalescing = RequestCoalescing(accounts: .separate { _ in session.id?.uuidString })
            world.server.transport.on(.get, "/prices") { request, _ in
                let token = request.header["X-Api-Token"]
                try await world.clock.sleep(for: .seconds(1))
                return token.map { .reply(text: $0) } ?? .reply(text: "anonymous")
            }
            let service = world.api.with {
                $0.interceptors = [coalescing]
                $0.retrierFactory = session.retrierFactory
            }
            let anonymous = service.anonymous
            let (first, second) = anonymousFirst ? (anonymous, service) : (service, anonymous)
            async let one = GetPrices().schedule(with: first)
            try await world.sleep(.milliseconds(200))
            async let two = GetPrices().schedule(with: second)
            let answers = try await [one, two]
            #expect(answers == (anonymousFirst ? ["anonymous", "anna-1"] : ["anna-1", "anonymous"]))
        }
    }

    @Test("an anonymous call that is refused does not fail the user's call")
    func coalesced401() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let coalescing = RequestCoalescing(accounts: .separate { _ in session.id?.uuidString })
            world.server.transport.on(.get, "/notes") { request, _ in
                let token = request.header["X-Api-Token"]
                try await world.clock.sleep(for: .seconds(1))
                return token.map { .reply(text: $0) } ?? .status(401)
            }
            let service = world.api.with {
                $0.interceptors = [coalescing]
                $0.retrierFactory = session.retrierFactory
            }
            async let anonymous = try? GetNotes().schedule(with: service.anonymous)
            try await world.sleep(.milliseconds(200))
            async let user = try? GetNotes().schedule(with: service)
            #expect(await user == "anna-1")
            #expect(await anonymous == nil)
        }
    }

    @Test("an anonymous call carries no credential, though a factory around the session says nothing of authorizing")
    func wrapped() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let service = world.api.with {
                $0.retrierFactory = AnyRetrierFactory { _ in session.retrierFactory.create(for: GetPrices()) }
            }
            #expect(try await GetPrices().schedule(with: service.anonymous) == "anonymous")
        }
    }

    @Test("a call through a switch stays where it began, below wrappers in every order", arguments: 0..<4)
    func flipped(order: Int) async throws {
        try await TokenWorld.run { world in
            let seen = Locked<[String]>([])
            let flip = Locked<(@Sendable () -> Void)?>(nil)
            let transport = ScriptedTransport(clock: world.clock) { request, context in
                seen.withLock { $0.append("\(request.url.host ?? "") \(request.header["X-Env"] ?? "")") }
                flip.withLock { $0 }?()
                return context.number < 3 ? .status(503) : .reply(text: "ok")
            }
            let sites = ServiceSwitch("staging") { name in
                AnyHttpService(
                    apiUrl: "\(name).example.com",
                    header: ["X-Env": name],
                    retrierFactory: BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }),
                    transport: transport,
                    clock: world.clock
                )
            }
            flip.withLock { $0 = { sites.select(sites.selected == "staging" ? "production" : "staging") } }
            switch order {
            case 0: _ = try await GetPrices().schedule(with: sites.anonymous.with { $0.maxAttempts = 9 })
            case 1: _ = try await GetPrices().schedule(with: sites.with { $0.maxAttempts = 9 }.anonymous)
            case 2: _ = try await GetPrices().schedule(with: sites.anonymous.mappingErrors { $0 }.anonymous)
            default:
                let outer = ServiceSwitch(1) { _ in sites }
                _ = try await GetPrices().schedule(
                    with: outer.mappingErrors { $0 }.with { $0.header["X-A"] = "1" }.anonymous
                )
            }
            #expect(seen.withLock { $0 } == Array(repeating: "staging.example.com staging", count: 3))
        }
    }

    @Test("no dump and no description has the credential")
    func dumps() async throws {
        try await TokenWorld.run { world in
            let secret = ApiToken(value: "s3cret-1", expires: world.date.addingTimeInterval(3600))
            let session = world.process()
            try await session.signIn(secret)
            let service = world.api.with {
                $0.header = ["X-Api-Token": "s3cret"]
                $0.retrierFactory = session.retrierFactory
            }
            let switched = ServiceSwitch("a") { _ in service }
            let ending = session.signOutNow()
            try await session.signIn(secret)
            let things: [Any] = [
                session, session.key, session.current as Any, service, service.anonymous, service.retrierFactory,
                service.retrierFactory.create(for: GetNotes()), switched, switched.anonymous, ending, session.events,
                world.store, world.store.load(world.key) as Any, session.gate, session.session,
                service.anonymous.mappingErrors { $0 },
            ]
            for thing in things {
                var text = ""
                dump(thing, to: &text)
                #expect(!(text + "\(thing)" + String(reflecting: thing)).contains("s3cret"), "\(type(of: thing))")
            }
        }
    }
}

private struct Prices: Request, Hashable {
    typealias Result = String
    var route: HttpRoute { ["prices"] }
}
