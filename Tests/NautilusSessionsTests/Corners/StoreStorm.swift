import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport

/// Three processes whose tokens serve for a minute, for a quarter of an hour.
struct StoreStorm: Sendable {
    /// The work that the processes do all the time.
    enum Work: Sendable {
        case calls, sequences
        /// Calls and sequences, while users change before the changes of before are stored, in every process or in one.
        case changes(inOne: Bool)
    }

    private struct GetCall: Request {
        typealias Result = String
        let id: String
        var route: HttpRoute { ["calls", id] }
    }

    /// The users who may be signed in at the end; nil stands for none.
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
            // It may have been stored by now, or is signed out with the user who is.
            if unsaved.removeValue(forKey: user) != nil { mayBeNobody = true }
        }

        /// Forgets the sign-ins that have given way to others.
        mutating func look(_ user: (Int) -> String?) {
            unsaved = unsaved.filter { user($0.value) == $0.key }
        }
    }

    let world: TokenWorld
    private let work: Work
    private let stores: [UnrulyStore]
    private let processes: [Session<ApiToken>]
    private let users = Locked<[String: String]>([:])
    /// The users whom each process has signed out, or replaced, for good, and when.
    private let left = Locked<[[String: ManualClock.Instant]]>([[:], [:], [:]])
    private let complaints = Locked<[String]>([])
    private let expected = Locked(Users())
    /// The user of the change that began last; nil for a sign-out.
    private let last = Locked<String?>(nil)
    /// The users who have signed out.
    private let signedOut = Locked<Set<String>>([])
    /// The server's ends of the web sockets, each with the process and the user of its client.
    let sockets = Locked<[(process: Int, user: String, isServed: Locked<Bool>)]>([])

    /// - Parameter lag: How stale a read may be while its store is in trouble.
    init(_ world: TokenWorld, _ work: Work, lag: Duration = .zero) async throws {
        (self.world, self.work) = (world, work)
        let rules = SessionRules<ApiToken>(
            authorize: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
            revoke: { token in _ = try await SendToken(token: token, route: ["forget"]).schedule(with: world.api) },
            refresh: { token in
                let value = try await SendToken(token: token).schedule(with: world.api)
                return ApiToken(value: value, expires: world.date.addingTimeInterval(60))
            }
        )
        let stores = (0..<3).map { _ in UnrulyStore(world.store, world.clock, world.random) }
        let limits = RefreshLimits(timeLimit: .seconds(90), maxStarts: 1_000_000)
        let history = LaggingStore.History(world.store, world.clock)
        processes = stores.map { store in
            let view: any CredentialStore =
                lag > .zero ? LaggingStore(store, history, world.random, lag: lag) : store
            return world.process(rules, store: view, limits: limits)
        }
        self.stores = stores
        world.server.grantGrace()
        world.server.transport.on(.get, "/calls/*") { [self] request, _ in
            let (call, token) = (request.url.lastPathComponent, request.header["X-Api-Token"] ?? "")
            note(call, as: String(token.prefix { $0 != "-" }))
            return .delay(.milliseconds(10), then: world.server.accepts(token) ? .reply(text: token) : .status(401))
        }
        serveSequences()
        try await processes[0].signIn(credential("user0"))
    }

    private func credential(_ user: String) -> ApiToken {
        _ = world.server.signIn(user, at: world.date)
        return ApiToken(value: "\(user)-1", expires: world.date.addingTimeInterval(60))
    }

    /// A request of a call or a sequence has come.
    func note(_ call: String, as user: String) {
        let first = users.withLock { users in
            users[call] = users[call] ?? user
            return users[call]
        }
        if first != user { complain("call \(call) of \(first ?? "") went out as \(user)") }
        let process = Int(call.prefix(1)) ?? 0
        if hasLeft(user, process) { complain("call \(call) as \(user), who has left") }
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for (number, process) in processes.enumerated() {
                for call in 0..<30 {
                    switch work {
                    case .calls: group.addTask { await self.call(process, "\(number).\(call)") }
                    case .changes where call.isMultiple(of: 2):
                        group.addTask { await self.call(process, "\(number).\(call)") }
                    case .sequences, .changes: group.addTask { await sequence(process, "\(number).\(call)") }
                    }
                }
                group.addTask { await makeTrouble(stores[number]) }
            }
            group.addTask { await changeUsers() }
        }
        for store in stores { store.trouble(false) }
        // Hanging operations have happened by now, and failed saves have been made up for.
        try await world.sleep(.seconds(900))
        await check()
        return complaints.withLock { $0 }
    }

    private func call(_ process: Session<ApiToken>, _ id: String) async {
        try? await world.sleep(.seconds(900) * world.random.nextFraction())
        let service = world.api.with { $0.retrierFactory = process.authorization }
        let call = BackgroundTask.start { _ = try? await GetCall(id: id).schedule(with: service) }
        if !id.hasSuffix("check"), world.random.nextFraction() < 0.2 {
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
        if case .changes(let inOne) = work { return await changeUsersAtOnce(inOne: inOne) }
        for number in 1...5 {
            try? await world.sleep(.seconds(180) * world.random.nextFraction())
            let index = Int(world.random.nextFraction() * 2.99)
            await changeUser(in: index, to: world.random.nextFraction() < 0.5 ? nil : "user\(number)")
        }
    }

    /// Users change while the changes before are still on their way to the store.
    private func changeUsersAtOnce(inOne: Bool) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 1...40 {
                try? await world.sleep(.seconds(60) * world.random.nextFraction() * world.random.nextFraction())
                let index = inOne ? 0 : Int(world.random.nextFraction() * 2.99)
                let user = world.random.nextFraction() < 0.5 ? nil : "user\(number)"
                last.withLock { $0 = user }
                group.addTask { await changeUser(in: index, to: user) }
            }
        }
    }

    /// - Parameter user: Who signs in; nil for a sign-out.
    private func changeUser(in index: Int, to user: String?) async {
        let process = processes[index]
        let before = self.user(of: process)
        expected.withLock { $0.look { self.user(of: processes[$0]) } }
        // From here on, whatever becomes of the change.
        if let before { left.withLock { $0[index][before] = world.clock.now } }
        if let user {
            let isStored = (try? await process.signIn(credential(user))) != nil
            expected.withLock { $0.signIn(user, in: index, after: before, isStored: isStored) }
        } else if case .changes = work {
            if let before { signedOut.withLock { _ = $0.insert(before) } }
            try? await process.signOut()
        } else if let before {
            // Where no user is known, a sign-out is meant for the stored user.
            try? await process.signOut()
            expected.withLock { $0.signOut(before) }
        }
    }

    private func user(of process: Session<ApiToken>) -> String? {
        process.current.map { String($0.credential.value.prefix { $0 != "-" }) }
    }

    /// Whether a user has left a process for good. A request that goes out in the same moment was authorized before.
    func hasLeft(_ user: String, _ process: Int) -> Bool {
        left.withLock { $0[process][user].map { $0 < world.clock.now } ?? false }
    }

    private func check() async {
        let served = sockets.withLock { $0 }.filter { $0.isServed.withLock { $0 } }
        for (process, user, _) in served where hasLeft(user, process) {
            complain("a web socket of \(user) is open, who has left process \(process)")
        }
        for number in processes.indices {
            // Where the last look at the store has hung, the first call only has it looked at again.
            for turn in ["first", "second"] { await call(processes[number], "\(number).\(turn).check") }
        }
        let signedIn = processes.map(user)
        if Set(signedIn).count > 1 { complain("the processes disagree: \(signedIn)") }
        let over = signedOut.withLock { $0.intersection(signedIn.compactMap { $0 }) }
        if !over.isEmpty { complain("\(over) are signed in, and have signed out") }
        let possible: Set<String?>
        switch work {
        case .calls, .sequences: possible = expected.withLock { $0.possible }
        case .changes(inOne: true): possible = [last.withLock { $0 }]
        // In which order changes of several processes count that are under way at once is the store's to say.
        case .changes(inOne: false): return
        }
        if !possible.isSuperset(of: signedIn) { complain("\(signedIn) are signed in, and not one of \(possible)") }
    }

    func complain(_ text: String) { complaints.withLock { $0.append(text) } }
}
