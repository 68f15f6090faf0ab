import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("Caches in a storm of users who come and go")
struct AnswerStormTests {
    @Test(
        "nobody is given an answer, a result or a revalidation that was somebody else's",
        arguments: AnswerStorm.Stores.allCases
    )
    func answers(over stores: AnswerStorm.Stores) async throws {
        try await forEachSeed(20) { seed in
            let findings = try await TokenWorld.run(seed: seed) { world in
                try await AnswerStorm(world, over: stores).findings()
            }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}

/// Two processes with caches of their own, at whose calls a server answers with the name of the user.
struct AnswerStorm: Sendable {
    /// How the stores behave over which the processes share the credential.
    enum Stores: CaseIterable, Sendable {
        case prompt, slow, troubled
    }

    private struct GetPrice: Request, Hashable {
        typealias Result = String
        let number: Int
        var route: HttpRoute { ["prices", number] }
    }

    private struct Client: Sendable {
        let session: Session<ApiToken>
        let service: AnyHttpService<HttpError>
        /// Nil for a store that answers at once.
        let store: UnrulyStore?
    }

    private let world: TokenWorld
    private let stores: Stores
    private let clients: [Client]
    private let complaints = Locked<[String]>([])

    init(_ world: TokenWorld, over stores: Stores) async throws {
        self.world = world
        self.stores = stores
        let random = world.random
        let rules = world.rules()
        clients = (0..<2).map { _ in
            let store = stores == .prompt ? nil : UnrulyStore(world.store, world.clock, random)
            let session = world.process(
                rules,
                store: store ?? world.store,
                limits: RefreshLimits(timeLimit: .seconds(90))
            )
            return Client(session: session, service: Self.service(world, session), store: store)
        }
        world.server.transport.on(.get, "/prices/*") { request, _ in
            let token = request.header["X-Api-Token"]
            try await world.clock.sleep(for: .seconds(3) * random.nextFraction())
            if let token, !world.server.accepts(token) { return .status(401) }
            if random.nextFraction() < 0.1 { return .status(503) }
            // One tag for all users, as a server has that counts versions.
            let tag: HttpHeader = ["ETag": "\"1\"", "Cache-Control": "\(Self.rule(random.nextFraction()))"]
            if request.header["If-None-Match"] != nil { return .status(304, header: tag) }
            return .reply(header: tag, text: token.map { String($0.prefix { $0 != "-" }) } ?? "anonymous")
        }
        try await clients[0].session.signIn(world.server.signIn("user0", at: world.date))
        // A process that knows nothing yet goes by what its first look finds, however long that takes.
        try await clients[1].session.restore()
    }

    private static func rule(_ draw: Double) -> HttpHeader.Value {
        switch draw {
        case ..<0.3: "max-age=30"
        case ..<0.5: "max-age=1, stale-while-revalidate=60"
        case ..<0.7: "max-age=1, stale-if-error=60"
        default: "no-cache"
        }
    }

    /// A service with some of the parts that keep or share answers, in some order.
    private static func service(_ world: TokenWorld, _ session: Session<ApiToken>) -> AnyHttpService<HttpError> {
        let accounts = CacheAccounts.separate { _ in session.id?.uuidString }
        let cache = HttpCache(accounts: accounts, staleIfError: .seconds(60), wallClock: { world.date })
        let coalescing = RequestCoalescing(accounts: accounts)
        let limit = ConcurrencyLimit(2)
        let draw = world.random.nextFraction()
        let interceptors: [any HttpInterceptor] =
            switch draw {
            case ..<0.2: [cache, coalescing, limit]
            case ..<0.4: [coalescing, cache]
            case ..<0.6: [cache]
            case ..<0.8: [limit, coalescing]
            default: []
            }
        return world.api.with {
            $0.interceptors = interceptors
            $0.retrierFactory = session.retrierFactory(.atOnce)
            if draw > 0.7 { $0.hook = CachingServiceHook(for: .seconds(20), account: { session.id?.uuidString }) }
            if draw < 0.5 { $0.interceptors.append(Hedging(after: .fixed(.seconds(2)), budget: .unlimited)) }
        }
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for client in clients {
                for number in 0..<60 { group.addTask { await call(client, number % 3, isAnonymous: number % 4 == 0) } }
                if stores == .troubled, let store = client.store { group.addTask { await makeTrouble(store) } }
            }
            group.addTask { await changeUsers() }
        }
        return complaints.withLock { $0 }
    }

    private func call(_ client: Client, _ number: Int, isAnonymous: Bool) async {
        try? await world.sleep(.seconds(300) * world.random.nextFraction())
        // Whoever is known to this process, or to the store.
        let (known, stored) = (client.session.current?.credential, world.store.load(world.key))
        let users = [known, try? stored?.credential(as: ApiToken.self)].compactMap { $0?.value.prefix { $0 != "-" } }
        let request = GetPrice(number: number)
        let result =
            if isAnonymous {
                await request.result(with: client.service.anonymous)
            } else {
                await request.result(with: client.service)
            }
        guard let answer = result.text else { return }
        let isRight = isAnonymous ? answer == "anonymous" : users.contains { $0 == answer }
        if !isRight {
            let caller = isAnonymous ? "an anonymous call" : "one of \(users)"
            complaints.withLock { $0.append("\(caller) was told \(answer)") }
        }
    }

    private func makeTrouble(_ store: UnrulyStore) async {
        for _ in 0..<6 {
            store.trouble(world.random.nextFraction() < 0.5)
            try? await world.sleep(.seconds(60) * world.random.nextFraction())
        }
        store.trouble(false)
    }

    private func changeUsers() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                try? await world.sleep(.seconds(70) * world.random.nextFraction())
                let session = clients[world.random.nextFraction() < 0.5 ? 0 : 1].session
                let token =
                    world.random.nextFraction() < 0.3 ? nil : world.server.signIn("user\(number)", at: world.date)
                group.addTask {
                    if let token { try? await session.signIn(token) } else { try? await session.signOut() }
                }
            }
        }
    }
}
