import Foundation
import Nautilus
import NautilusCaching
import NautilusEnvironments
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Guests and users of one service")
struct GuestTests {
    @Test("a guest and a user are given nothing that a cache has of the other", arguments: [true, false])
    func cachedGuest(guestFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "guest")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            if guestFirst {
                #expect(try await GetPrices().schedule(with: service.signedOut) == "guest")
                #expect(try await GetPrices().schedule(with: service) == "anna-1")
            } else {
                #expect(try await GetPrices().schedule(with: service) == "anna-1")
                #expect(try await GetPrices().schedule(with: service.signedOut) == "guest")
            }
        }
    }

    @Test(
        "a request for guests carries no credential, renews none, and has a guest's answers",
        arguments: [true, false]
    )
    func requestForGuests(isDerived: Bool) async throws {
        struct PricesForAll: Request {
            var isForGuests: Bool { true }
            var route: HttpRoute { ["prices"] }
            func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
        }
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let cache = HttpCache(accounts: .separate { _ in session.id?.uuidString }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "guest")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            let forGuests = isDerived ? GetPrices().with { $0.isForGuests = true } : AnyRequest(PricesForAll())
            try await world.sleep(.seconds(3600))
            #expect(try await forGuests.schedule(with: service) == "guest")
            #expect(world.server.renewals == [])
            #expect(try await GetPrices().schedule(with: service) == "anna-2")
            #expect(try await forGuests.schedule(with: service) == "guest")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
            try await session.signOut()
            #expect(try await forGuests.schedule(with: service) == "guest")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    /// Retriers for users, of which guests are given none.
    private struct UserRetriers: RetrierFactory {
        let made = Locked(0)

        var signedOut: any RetrierFactory { NilRetrier.factory() }

        func create<R: Request>(for request: R) -> any Retrier {
            made.withLock { $0 += 1 }
            return NilRetrier()
        }
    }

    @Test("a request for guests has the retriers that its service has for them")
    func retriersForGuests() async throws {
        try await TokenWorld.run { world in
            world.server.transport.on(.get, "/prices", .reply(text: "guest"), afterLast: .repeat)
            let retriers = UserRetriers()
            let service = world.api.with { $0.retrierFactory = retriers }
            _ = try await GetPrices().with { $0.isForGuests = true }.schedule(with: service)
            #expect(retriers.made.withLock { $0 } == 0)
            _ = try await GetPrices().schedule(with: service)
            #expect(retriers.made.withLock { $0 } == 1)
        }
    }

    @Test("nor is a guest given a result that was remembered for a user, where the hook tells users apart")
    func hookedGuest() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let hook = CachingServiceHook(for: .seconds(300), account: { session.id?.uuidString })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(text: request.header["X-Api-Token"] ?? "guest")
            }
            let service = world.api.with {
                $0.hook = hook
                $0.retrierFactory = session.retrierFactory
            }
            #expect(try await Prices().schedule(with: service) == "anna-1")
            #expect(try await Prices().schedule(with: service.signedOut) == "guest")
            #expect(try await Prices().schedule(with: service) == "anna-1")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    @Test("nor is a user given what a cache has of a guest, while it is not known yet who is signed in")
    func unknownUser() async throws {
        try await TokenWorld.run { world in
            let other = try await world.signedIn()
            let session = world.process()
            // As with a store that takes its time.
            let cache = HttpCache(accounts: .separate { _ in nil }, wallClock: { world.date })
            world.server.transport.on(.get, "/prices") { request, _ in
                .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "guest")
            }
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            for _ in 1...2 { #expect(try await GetPrices().schedule(with: service.signedOut) == "guest") }
            #expect(try await GetPrices().schedule(with: service) == "anna-1")
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
            #expect(other.isSignedIn)
        }
    }

    @Test("nor by default, where no account is named", arguments: [true, false])
    func unnamedAccounts(isCoalescing: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/prices") { request, _ in
                let token = request.header["X-Api-Token"]
                try await world.clock.sleep(for: .seconds(1))
                return .reply(header: ["Cache-Control": "max-age=60"], text: token ?? "guest")
            }
            let layer: any HttpInterceptor =
                isCoalescing ? RequestCoalescing() : HttpCache(wallClock: { world.date })
            let service = world.api.with {
                $0.interceptors = [layer]
                $0.retrierFactory = session.retrierFactory
            }
            async let first = GetPrices().schedule(with: service.signedOut)
            if !isCoalescing { _ = try await first }
            try await world.sleep(.milliseconds(200))
            async let user = GetPrices().schedule(with: service)
            async let guest = GetPrices().schedule(with: service.signedOut)
            let answers = try await [first, user, guest]
            #expect(answers == ["guest", "anna-1", "guest"])
            #expect(world.server.transport.count(of: .get, "/prices") == 2)
        }
    }

    @Test("nor an answer to the other that is under way", arguments: [true, false])
    func coalescedGuest(guestFirst: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let coalescing = RequestCoalescing(accounts: .separate { _ in session.id?.uuidString })
            world.server.transport.on(.get, "/prices") { request, _ in
                let token = request.header["X-Api-Token"]
                try await world.clock.sleep(for: .seconds(1))
                return token.map { .reply(text: $0) } ?? .reply(text: "guest")
            }
            let service = world.api.with {
                $0.interceptors = [coalescing]
                $0.retrierFactory = session.retrierFactory
            }
            let guest = service.signedOut
            let (first, second) = guestFirst ? (guest, service) : (service, guest)
            async let one = GetPrices().schedule(with: first)
            try await world.sleep(.milliseconds(200))
            async let two = GetPrices().schedule(with: second)
            let answers = try await [one, two]
            #expect(answers == (guestFirst ? ["guest", "anna-1"] : ["anna-1", "guest"]))
        }
    }

    @Test("a guest that is refused does not fail the call of the user")
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
            async let guest = try? GetNotes().schedule(with: service.signedOut)
            try await world.sleep(.milliseconds(200))
            async let user = try? GetNotes().schedule(with: service)
            #expect(await user == "anna-1")
            #expect(await guest == nil)
        }
    }

    @Test("a guest carries no credential, though a factory around the session says nothing of authorizing")
    func wrapped() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let service = world.api.with {
                $0.retrierFactory = AnyRetrierFactory { _ in session.retrierFactory.create(for: GetPrices()) }
            }
            #expect(try await GetPrices().schedule(with: service.signedOut) == "guest")
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
            case 0: _ = try await GetPrices().schedule(with: sites.signedOut.with { $0.maxAttempts = 9 })
            case 1: _ = try await GetPrices().schedule(with: sites.with { $0.maxAttempts = 9 }.signedOut)
            case 2: _ = try await GetPrices().schedule(with: sites.signedOut.mappingErrors { $0 }.signedOut)
            default:
                let outer = ServiceSwitch(1) { _ in sites }
                _ = try await GetPrices().schedule(
                    with: outer.mappingErrors { $0 }.with { $0.header["X-A"] = "1" }.signedOut
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
                session, session.key, session.current as Any, service, service.signedOut, service.retrierFactory,
                service.retrierFactory.create(for: GetNotes()), switched, switched.signedOut, ending, session.events,
                world.store, world.store.load(world.key) as Any, session.gate, session.session,
                service.signedOut.mappingErrors { $0 },
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
