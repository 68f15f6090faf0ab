import Foundation
import Nautilus
import NautilusCaching
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("New processes while users change, over a lagging store")
struct LaunchStormTests {
    /// A store that tells its record at once, as a file is read, and otherwise fails, hangs and takes its time.
    private struct PromptUnruly: PromptStore, StoreInFront {
        let memory: MemoryStore
        let base: UnrulyStore

        func version(of key: CredentialKey) async throws -> CredentialVersion? { memory.version(of: key) }
        func promptVersion(of key: CredentialKey) -> CredentialVersion? { memory.version(of: key) }
        func promptLoad(_ key: CredentialKey) -> StoredCredential? { memory.load(key) }
    }

    /// Notes who was signed in when a call began, in the store and in its process.
    private struct Noting: RetrierFactory {
        let base: any RetrierFactory
        let users: @Sendable () -> Set<String>
        let began: Locked<Set<String>?>
        var anonymous: any RetrierFactory { base.anonymous }

        func create<R: Request>(for request: R) -> any Retrier {
            let present = users()
            began.withLock { $0 = $0 ?? present }
            return base.create(for: request)
        }
    }

    private struct Storm: Sendable {
        let world: TokenWorld
        let complaints = Locked<[String]>([])
        let answered = Locked(0)

        /// A process with a cache and a coalescing of its own.
        struct Process: Sendable {
            let session: Session<ApiToken>
            let interceptors: [any HttpInterceptor]
            let store: UnrulyStore
        }

        /// A process that is launched now.
        func launch() -> Process {
            let unruly = UnrulyStore(world.store, world.clock, world.random, slowness: (0.5, .seconds(3)))
            let session = world.process(store: PromptUnruly(memory: world.store, base: unruly))
            let accounts = CacheAccounts.separate { _ in session.id?.uuidString }
            unruly.trouble(true)
            return Process(
                session: session,
                interceptors: [
                    HttpCache(accounts: accounts, wallClock: { world.date }), RequestCoalescing(accounts: accounts),
                ],
                store: unruly
            )
        }

        static func user(of token: String) -> String { String(token.prefix { $0 != "-" }) }

        /// Who may be the user of a call that begins now: the stored one, or the one whom the process has known so far.
        func users(_ session: Session<ApiToken>) -> Set<String> {
            let stored = try? world.store.load(world.key)?.credential(as: ApiToken.self).value
            return Set([stored, session.current?.credential.value].compactMap { $0 }.map(Self.user))
        }

        func call(_ process: Process) async {
            let began = Locked<Set<String>?>(nil)
            let session = process.session
            let factory = Noting(base: session.authorization, users: { users(session) }, began: began)
            let service = world.api.with {
                $0.interceptors = process.interceptors
                $0.retrierFactory = factory
            }
            if world.random.nextFraction() < 0.2 {
                let answer = try? await GetPrices().schedule(with: service.anonymous)
                if answer != "anonymous" {
                    complaints.withLock { $0.append("an anonymous call was answered \(answer ?? "nothing")") }
                }
                return
            }
            let asksForPrices = world.random.nextFraction() < 0.5
            let answer =
                asksForPrices
                ? try? await GetPrices().schedule(with: service) : try? await GetNotes().schedule(with: service)
            guard let answer else { return }
            answered.withLock { $0 += 1 }
            let allowed = began.withLock { $0 } ?? []
            let user = Self.user(of: answer)
            if !allowed.contains(user) {
                complaints.withLock { $0.append("a call that began with \(allowed.sorted()) was answered as \(user)") }
            }
        }

        func changeUsers() async {
            let process = launch()
            process.store.trouble(false)
            for number in 0..<12 {
                try? await world.sleep(.seconds(4) * world.random.nextFraction())
                if world.random.nextFraction() < 0.3 {
                    try? await process.session.signOut()
                } else {
                    try? await process.session.signIn(world.server.signIn("user\(number)", at: world.date))
                }
            }
        }

        func use() async {
            for _ in 0..<5 {
                try? await world.sleep(.seconds(10) * world.random.nextFraction())
                let process = launch()
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try? await world.sleep(.seconds(8) * world.random.nextFraction())
                            await call(process)
                        }
                    }
                }
            }
        }
    }

    @Test("each call is answered as who was signed in when it began")
    func calls() async throws {
        let answered = Locked(0)
        try await forEachSeed(20) { seed in
            let complaints = try await TokenWorld.run(seed: seed) { world in
                let storm = Storm(world: world)
                // Prices are for anonymous calls as well, and a cache may keep them.
                world.server.transport.on(.get, "/prices") { request, _ in
                    .reply(header: ["Cache-Control": "max-age=60"], text: request.header["X-Api-Token"] ?? "anonymous")
                }
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await storm.changeUsers() }
                    for _ in 0..<3 { group.addTask { await storm.use() } }
                }
                answered.withLock { $0 += storm.answered.withLock { $0 } }
                return storm.complaints.withLock { $0 }
            }
            #expect(complaints == [], "seed \(seed)")
        }
        // Most find somebody signed in.
        #expect(answered.withLock { $0 } > trials(20) * 40)
    }
}
