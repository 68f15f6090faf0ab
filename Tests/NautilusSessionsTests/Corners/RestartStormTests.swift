import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Users in a storm of sessions that are dropped and callers that are cancelled")
struct RestartStormTests {
    @Test("a sign-out counts, though its session is dropped or its caller leaves, and nobody else is signed out")
    func storm() async throws {
        try await forEachSeed(12) { seed in
            let findings = try await TokenWorld.run(seed: seed) { try await RestartStorm($0).findings() }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}

/// Three places, at each of which one session after the other is used over the same unruly store.
private struct RestartStorm: Sendable {
    private struct GetCall: Request {
        typealias Result = String
        let id: String
        var route: HttpRoute { ["calls", id] }
    }

    /// The users who may be signed in at the end; nil stands for none.
    private struct Users: Sendable {
        var possible: Set<String?> = ["user0"]
        /// Those who were signed out or replaced where they were known, and must not come back.
        var gone: Set<String> = []
    }

    private let world: TokenWorld
    private let rules: SessionRules<ApiToken>
    private let stores: [UnrulyStore]
    private let places: Locked<[Session<ApiToken>]>
    private let users = Locked<[String: String]>([:])
    private let complaints = Locked<[String]>([])
    private let expected = Locked(Users())

    init(_ world: TokenWorld) async throws {
        self.world = world
        rules = SessionRules<ApiToken>(
            authorize: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
            refresh: { token in
                let value = try await SendToken(token: token).schedule(with: world.api)
                return ApiToken(value: value, expires: world.date.addingTimeInterval(60))
            }
        )
        stores = (0..<3).map { _ in UnrulyStore(world.store, world.clock, world.random) }
        places = Locked([])
        let sessions = stores.map(session)
        places.withLock { $0 = sessions }
        // A session that is dropped with a refreshed token unsaved loses it: the server has to take the one before,
        // too.
        world.server.grantGrace()
        world.server.transport.on(.get, "/calls/*") { [self] request, _ in
            let (call, token) = (request.url.lastPathComponent, request.header["X-Api-Token"] ?? "")
            note(call, as: String(token.prefix { $0 != "-" }))
            return .delay(.milliseconds(10), then: world.server.accepts(token) ? .reply(text: token) : .status(401))
        }
        try await sessions[0].signIn(credential("user0"))
    }

    private func session(over store: UnrulyStore) -> Session<ApiToken> {
        world.process(rules, store: store, limits: RefreshLimits(timeLimit: .seconds(90), maxStarts: 1_000_000))
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
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for place in stores.indices {
                for call in 0..<20 { group.addTask { await self.call(place, "\(place).\(call)") } }
                group.addTask { await makeTrouble(stores[place]) }
                group.addTask { await restart(place) }
            }
            group.addTask { await changeUsers() }
        }
        for store in stores { store.trouble(false) }
        // Hanging operations have happened by now, and failed saves have been made up for.
        try await world.sleep(.seconds(900))
        await check()
        return complaints.withLock { $0 }
    }

    private func pause(_ longest: Duration) async {
        try? await world.sleep(longest * world.random.nextFraction())
    }

    private func call(_ place: Int, _ id: String, after longest: Duration = .seconds(900)) async {
        await pause(longest)
        let service = world.api.with { [places] in $0.retrierFactory = places.withLock { $0[place] }.authorization }
        _ = try? await GetCall(id: id).schedule(with: service)
    }

    private func makeTrouble(_ store: UnrulyStore) async {
        for _ in 0..<10 {
            store.trouble(world.random.nextFraction() < 0.6)
            await pause(.seconds(90))
        }
    }

    private func restart(_ place: Int) async {
        for _ in 0..<4 {
            await pause(.seconds(400))
            let fresh = session(over: stores[place])
            places.withLock { $0[place] = fresh }
            await leavingEarly { _ = try? await fresh.restore() }
        }
    }

    /// Does something for a caller who may leave before it has ended.
    private func leavingEarly(_ work: @escaping @Sendable () async -> Void) async {
        let task = BackgroundTask.start { await work() }
        if world.random.nextFraction() < 0.5 {
            await pause(.seconds(10))
            task.cancel()
        }
        await task.value
    }

    private func changeUsers() async {
        for number in 1...5 {
            await pause(.seconds(180))
            let index = Int(world.random.nextFraction() * 2.99)
            let (session, user) = (places.withLock { $0[index] }, "user\(number)")
            let before = self.user(of: session)
            if world.random.nextFraction() < 0.5 {
                // Where no user is known, a sign-out is meant for the user who is stored once the store can be read.
                guard before != nil else { continue }
                await leavingEarly { try? await session.signOut() }
                expected.withLock { _ = $0.possible.insert(nil) }
            } else {
                let isStored = Locked(false)
                let fresh = credential(user)
                await leavingEarly {
                    let isSaved = (try? await session.signIn(fresh)) != nil
                    isStored.withLock { $0 = isSaved }
                }
                expected.withLock { users in
                    if isStored.withLock({ $0 }) { users.possible.remove(nil) }
                    users.possible.insert(user)
                }
                // Its object may be dropped with the sign-in unsaved: then the user before is still the stored one.
                guard isStored.withLock({ $0 }) else { continue }
            }
            if let before { expected.withLock { _ = $0.gone.insert(before) } }
            await leavingEarly { try? await session.flush() }
        }
    }

    private func user(of session: Session<ApiToken>) -> String? {
        session.current.map { String($0.credential.value.prefix { $0 != "-" }) }
    }

    private func check() async {
        // Where a look was given up, the next one fails at once, and has another begun in the background.
        for round in 0..<2 {
            for place in stores.indices { await call(place, "\(place).check\(round)", after: .zero) }
            await pause(.seconds(60))
        }
        let signedIn = places.withLock { $0 }.map(user)
        if Set(signedIn).count > 1 { complain("the sessions disagree: \(signedIn)") }
        let (possible, gone) = expected.withLock { ($0.possible, $0.gone) }
        if !possible.isSuperset(of: signedIn) { complain("\(signedIn) are signed in, and not one of \(possible)") }
        for case let user? in signedIn where gone.contains(user) { complain("\(user) has come back") }
    }

    private func complain(_ text: String) { complaints.withLock { $0.append(text) } }
}
