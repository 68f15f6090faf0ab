import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import Testing

@Suite("Users in a storm of a store that fails, hangs and does things late")
struct StoreStormTests {
    private static let seeds: UInt64 = ProcessInfo.processInfo.environment["NAUTILUS_STORM"] == nil ? 40 : 1_000

    @Test("nobody goes out as somebody else, what was signed out stays so, and nobody is signed out by the store alone")
    func storm() async throws {
        // Two at a time: each simulation keeps one core busy.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...Self.seeds {
                if seed > 2 { try await group.next() }
                group.addTask {
                    let findings = try await TokenWorld.run(seed: seed) { try await StoreStorm($0).findings() }
                    #expect(findings.isEmpty, "seed \(seed): \(findings)")
                }
            }
            try await group.waitForAll()
        }
    }
}

/// One process's view of a store that all share: while there is trouble, each thing asked of it may fail, take seconds, or
/// hang for a minute and happen after all.
final class UnrulyStore: CredentialStore {
    private let base: MemoryStore
    private let clock: ManualClock
    private let random: SeededRandomSource
    private let isTroubled = Locked(false)

    init(_ world: TokenWorld) {
        (base, clock, random) = (world.store, world.clock, world.random)
    }

    func trouble(_ isTroubled: Bool) { self.isTroubled.withLock { $0 = isTroubled } }

    private func pass() async throws {
        guard isTroubled.withLock({ $0 }) else { return }
        switch random.nextFraction() {
        case ..<0.15: throw CredentialStoreError.full(place: "disk")
        case ..<0.35: await wait(.seconds(5) * random.nextFraction())
        case ..<0.5: await wait(.seconds(20) + .seconds(60) * random.nextFraction())
        default: break
        }
    }

    /// As a disk does it: whether the caller is cancelled makes no difference.
    private func wait(_ duration: Duration) async {
        await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
    }

    func load(_ key: CredentialKey) async throws -> StoredCredential? {
        try await pass()
        return base.load(key)
    }
    func save(_ stored: StoredCredential, for key: CredentialKey) async throws {
        try await pass()
        base.save(stored, for: key)
    }
    func end(_ session: UUID, for key: CredentialKey) async throws -> StoredCredential? {
        try await pass()
        return base.end(session, for: key)
    }
    func delete(_ key: CredentialKey) async throws {
        try await pass()
        base.delete(key)
    }
    func version(of key: CredentialKey) async throws -> CredentialVersion? {
        try await pass()
        return base.version(of: key)
    }
    func lock(_ key: CredentialKey) async throws -> (any CredentialLock)? {
        try await pass()
        return base.lock(key)
    }
}

/// Three processes whose tokens serve for a minute, for a quarter of an hour.
private struct StoreStorm: Sendable {
    private struct GetCall: Request {
        typealias Result = String
        let id: String
        var route: HttpRoute { ["calls", id] }
    }

    /// Who may be signed in at the end; nil stands for nobody.
    private struct Users: Sendable {
        /// The last sign-in that was told to be stored, until it is signed out.
        private var stored: String? = "user0"
        /// Sign-ins that were not, and the process that has them in memory: each may still take the place of another's, of
        /// which its own process has never heard.
        private var unsaved: [String: Int] = [:]
        private var mayBeNobody = false

        var possible: Set<String?> { Set(unsaved.keys.map { $0 } + [stored] + (mayBeNobody ? [nil] : [])) }

        mutating func signIn(_ user: String, in process: Int, after before: String?, isStored: Bool) {
            if let before { unsaved[before] = nil }
            if isStored { (stored, mayBeNobody) = (user, false) } else { unsaved[user] = process }
        }

        mutating func signOut(_ user: String) {
            if stored == user { stored = nil }
            // It may have been stored by now, or is signed out with whoever is.
            if unsaved.removeValue(forKey: user) != nil { mayBeNobody = true }
        }

        /// Forgets the sign-ins that have given way to others.
        mutating func look(_ user: (Int) -> String?) {
            unsaved = unsaved.filter { user($0.value) == $0.key }
        }
    }

    private let world: TokenWorld
    private let stores: [UnrulyStore]
    private let processes: [Session<ApiToken>]
    private let users = Locked<[String: String]>([:])
    /// Whom each process has signed out, or replaced, for good.
    private let left = Locked<[[String]]>([[], [], []])
    private let complaints = Locked<[String]>([])
    private let expected = Locked(Users())

    init(_ world: TokenWorld) async throws {
        self.world = world
        let rules = SessionRules<ApiToken>(
            stamp: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: world.api) },
            renew: { token in
                let value = try await SendToken(token: token).schedule(with: world.api)
                return ApiToken(value: value, expires: world.date.addingTimeInterval(60))
            }
        )
        let stores = (0..<3).map { _ in UnrulyStore(world) }
        let limits = RefreshLimits(timeLimit: .seconds(90), maxStarts: 1_000_000)
        processes = stores.map { world.process(rules, store: $0, limits: limits) }
        self.stores = stores
        world.server.grantGrace()
        world.server.transport.on(.get, "/calls/*") { [self] request, _ in
            let (call, token) = (request.url.lastPathComponent, request.header["X-Api-Token"] ?? "")
            note(call, as: String(token.prefix { $0 != "-" }))
            return .delay(.milliseconds(10), then: world.server.accepts(token) ? .reply(text: token) : .status(401))
        }
        try await processes[0].signIn(credential("user0"))
    }

    private func credential(_ user: String) -> ApiToken {
        _ = world.server.signIn(user, at: world.date)
        return ApiToken(value: "\(user)-1", expires: world.date.addingTimeInterval(60))
    }

    private func note(_ call: String, as user: String) {
        let first = users.withLock { users in
            users[call] = users[call] ?? user
            return users[call]
        }
        if first != user { complain("call \(call) of \(first ?? "") went out as \(user)") }
        let process = Int(call.prefix(1)) ?? 0
        if left.withLock({ $0[process].contains(user) }) { complain("call \(call) as \(user), who has left") }
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for (number, process) in processes.enumerated() {
                for call in 0..<30 { group.addTask { await self.call(process, "\(number).\(call)") } }
                group.addTask { await makeTrouble(stores[number]) }
            }
            group.addTask { await changeUsers() }
        }
        for store in stores { store.trouble(false) }
        // What hangs has happened by now, and what could not be stored is.
        try await world.sleep(.seconds(900))
        await check()
        return complaints.withLock { $0 }
    }

    private func call(_ process: Session<ApiToken>, _ id: String) async {
        try? await world.sleep(.seconds(900) * world.random.nextFraction())
        let service = world.api.with { $0.retrierFactory = process.authorization }
        let call = BackgroundTask.start { _ = try? await GetCall(id: id).schedule(with: service) }
        if world.random.nextFraction() < 0.2 {
            try? await world.sleep(.seconds(1) * world.random.nextFraction())
            call.cancel()
        }
        await call.value
    }

    private func makeTrouble(_ store: UnrulyStore) async {
        for _ in 0..<10 {
            store.trouble(world.random.nextFraction() < 0.6)
            try? await world.sleep(.seconds(90) * world.random.nextFraction())
        }
    }

    private func changeUsers() async {
        for number in 1...5 {
            try? await world.sleep(.seconds(180) * world.random.nextFraction())
            let index = Int(world.random.nextFraction() * 2.99)
            let (process, user) = (processes[index], "user\(number)")
            let before = self.user(of: process)
            expected.withLock { $0.look { self.user(of: processes[$0]) } }
            if world.random.nextFraction() < 0.5 {
                // Where nobody is known, a sign-out is meant for whoever is stored.
                guard let before else { continue }
                try? await process.signOut()
                expected.withLock { $0.signOut(before) }
            } else {
                let isStored = (try? await process.signIn(credential(user))) != nil
                expected.withLock { $0.signIn(user, in: index, after: before, isStored: isStored) }
            }
            if let before { left.withLock { $0[index].append(before) } }
        }
    }

    private func user(of process: Session<ApiToken>) -> String? {
        process.current.map { String($0.credential.value.prefix { $0 != "-" }) }
    }

    private func check() async {
        for number in processes.indices { await call(processes[number], "\(number).check") }
        let signedIn = processes.map(user)
        if Set(signedIn).count > 1 { complain("the processes disagree: \(signedIn)") }
        let possible = expected.withLock { $0.possible }
        if !possible.isSuperset(of: signedIn) { complain("\(signedIn) are signed in, and not one of \(possible)") }
    }

    private func complain(_ text: String) { complaints.withLock { $0.append(text) } }
}
