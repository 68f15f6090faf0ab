import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache: accounts", .endsInTime)
struct CacheAccountsTests {
    private static func world(
        _ user: Locked<String?>,
        _ accounts: CacheAccounts,
        onRequest: @escaping @Sendable (HttpRequest) -> Void = { _ in },
        vary: String? = nil
    ) -> CacheWorld {
        CacheWorld(accounts: accounts, retrier: UserRetrier.factory(user)) { request, _ in
            onRequest(request)
            var header: HttpHeader = ["Cache-Control": "max-age=60"]
            header["Vary"] = vary
            return .reply(header: header, text: request.header[.authorization] ?? "nobody")
        }
    }

    @Test(
        "an answer to a credential that a retrier adds is not stored unless that is allowed, whatever the server says"
    )
    func anonymousOnly() async throws {
        let user = Locked<String?>("anna")
        let world = Self.world(user, .anonymousOnly)
        for _ in 1...2 { #expect(await world.get() == "200 Bearer anna") }
        #expect((world.transport.count, world.cache.responseCount) == (2, 0))
        user.withLock { $0 = nil }
        #expect(await world.get() == "200 nobody")
        #expect(await world.get() == "200 nobody age 0")
        #expect(world.transport.count == 3)
    }

    @Test(
        "a credential that the request has itself passes the cache by, in both directions",
        arguments: ["Authorization", "Cookie", "X-Api-Key", "X-Session-Token"] as [HttpHeader.Name]
    )
    func visibleCredential(name: HttpHeader.Name) async throws {
        let world = CacheWorld { _, _ in .reply(header: ["Cache-Control": "max-age=60"], text: "one") }
        let header = HttpHeader([.init(name: name, value: "secret")])
        for _ in 1...2 { #expect(await world.get(header) == "200 one") }
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "200 one")
        #expect(await world.get(header) == "200 one")
        #expect(world.transport.count == 4)
    }

    @Test("a field that names the app lets answers to anonymous calls be stored and shared, and gives no user's away")
    func appFields() async throws {
        let user = Locked<String?>(nil)
        let cache = HttpCache(appFields: ["X-Api-Key"])
        let transport = ScriptedTransport { request, _ in
            let text = request.header[.authorization] ?? "nobody"
            return .reply(header: ["Cache-Control": "max-age=60"], text: text)
        }
        let service = AnyHttpService<HttpError>(
            apiUrl: "api.example.com",
            interceptors: [cache, RequestCoalescing(appFields: ["X-Api-Key"])],
            retrierFactory: UserRetrier.factory(user),
            transport: transport
        ).with { $0.header = ["X-Api-Key": "app"] }
        for _ in 1...2 { #expect(try await Ping.get.schedule(with: service) == "nobody") }
        #expect((transport.count, cache.responseCount) == (1, 1))
        for name in ["anna", "bert"] {
            user.withLock { $0 = name }
            let fresh = Ping(header: ["Cache-Control": "no-cache"])
            #expect(try await fresh.schedule(with: service) == "Bearer \(name)")
        }
        #expect((transport.count, cache.responseCount) == (3, 1))
        // Another field is a user's, as ever.
        user.withLock { $0 = nil }
        for _ in 1...2 { _ = try await Ping(header: ["X-Session-Token": "a"]).schedule(with: service) }
        #expect((transport.count, cache.responseCount) == (5, 1))
    }

    @Test("each account has its own answers, nobody signed in has none of theirs, and signing out forgets one's own")
    func separate() async throws {
        let user = Locked<String?>(nil)
        let world = Self.world(user, .separate { _ in user.withLock { $0 } }, vary: "Authorization")
        for name in ["anna", "bert", nil, "anna", "bert", nil] {
            user.withLock { $0 = name }
            #expect(await world.get().hasPrefix("200 \(name.map { "Bearer \($0)" } ?? "nobody")"))
        }
        // An answer that varies by the credential and was given to no user is stored for none.
        #expect((world.transport.count, world.cache.responseCount) == (4, 2))
        await world.cache.removeAll(ofAccount: "anna")
        #expect(world.cache.responseCount == 1)
        user.withLock { $0 = "bert" }
        #expect(await world.get() == "200 Bearer bert age 0")
        user.withLock { $0 = "anna" }
        #expect(await world.get() == "200 Bearer anna")
    }

    @Test("a call whose account is not known yet bypasses the cache, and gets no anonymous answer")
    func unknown() async throws {
        let user = Locked<String?>(nil)
        let world = Self.world(user, .separate { _ in user.withLock { $0 } }, vary: "Accept")
        for _ in 1...2 { #expect(await world.get(isAnonymous: true).hasPrefix("200 nobody")) }
        for _ in 1...2 { #expect(await world.get() == "200 nobody") }
        #expect((world.transport.count, world.cache.responseCount) == (3, 1))
    }

    @Test("at the launch, the responses of all accounts but the present one go, and those to anonymous calls stay")
    func exceptOne() async throws {
        let user = Locked<String?>(nil)
        let world = Self.world(user, .separate { _ in user.withLock { $0 } }, vary: "Accept")
        for name in ["anna", "bert", nil] {
            user.withLock { $0 = name }
            _ = await world.get(isAnonymous: name == nil)
        }
        #expect(world.cache.responseCount == 3)
        await world.cache.removeAll(exceptAccount: "bert")
        #expect(world.cache.responseCount == 2)
        for (name, answer) in [
            ("anna", "200 Bearer anna"), ("bert", "200 Bearer bert age 0"), (nil, "200 nobody age 0"),
        ] {
            user.withLock { $0 = name }
            #expect(await world.get(isAnonymous: name == nil) == answer)
        }
        await world.cache.removeAll(exceptAccount: nil)
        #expect(world.cache.responseCount == 1)
    }

    @Test("an empty name is no account: nothing is stored for it, and nothing stored given")
    func emptyName() async throws {
        let user = Locked<String?>("")
        let world = Self.world(user, .separate { _ in user.withLock { $0 } })
        for _ in 1...2 { #expect(await world.get() == "200 Bearer ") }
        #expect((world.transport.count, world.cache.responseCount) == (2, 0))
    }

    @Test("an anonymous response that varies by the credential is not stored")
    func variesByCredential() async throws {
        let user = Locked<String?>(nil)
        let world = Self.world(user, .anonymousOnly, vary: "Accept, authorization")
        for _ in 1...2 { #expect(await world.get() == "200 nobody") }
        user.withLock { $0 = "anna" }
        #expect(await world.get() == "200 Bearer anna")
        #expect((world.transport.count, world.cache.responseCount) == (3, 0))
    }

    @Test("a 304 that begins to vary by the credential has what was stored for nobody forgotten")
    func beginsToVary() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "ETag": "\"1\""], text: "one"),
            .status(304, header: ["Cache-Control": "max-age=60", "Vary": "Authorization"])
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 one age 0")
        #expect(world.cache.responseCount == 0)
    }

    @Test("a change of the account while the answer is under way leaves it stored for nobody")
    func changedMeanwhile() async throws {
        let user = Locked<String?>("anna")
        let world = Self.world(user, .separate { _ in user.withLock { $0 } }) { _ in user.withLock { $0 = "bert" } }
        #expect(await world.get() == "200 Bearer anna")
        #expect(world.cache.responseCount == 0)
    }

    @Test("a change by one account removes the stored responses of all accounts")
    func invalidation() async throws {
        let user = Locked<String?>("anna")
        let world = Self.world(user, .separate { _ in user.withLock { $0 } })
        _ = await world.get()
        user.withLock { $0 = "bert" }
        _ = await world.get(method: .delete)
        #expect(world.cache.responseCount == 0)
    }

    @Test("no description of a cache shows an account or a token")
    func redaction() async throws {
        let user = Locked<String?>("anna")
        let world = Self.world(user, .separate { _ in user.withLock { $0 } })
        _ = await world.get()
        let partition = CachePartition(account: "anna")
        var dumped = ""
        dump(partition, to: &dumped)
        dump(world.cache, to: &dumped)
        #expect(world.cache.responseCount == 1)
        let text = [dumped, "\(partition)", String(reflecting: partition), "\(world.cache)"].joined()
        #expect(!text.contains("anna") && !text.contains("things"))
        #expect(partition.digest != CachePartition(account: nil).digest)
        #expect(!partition.digest.contains("anna"))
    }
}
