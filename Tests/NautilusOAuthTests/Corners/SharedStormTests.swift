import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Several processes in a storm")
struct SharedStormTests {
    @Test(
        "no interleaving of refreshes, lost answers, sign-ins, sign-outs, a failing store and cancellations spends a token twice"
    )
    func storm() async throws {
        try await forEachSeed(20) { seed in
            let findings = try await simulate(seed: seed) { simulation in
                let world = SessionWorld(simulation, lifetime: .seconds(5))
                return try await SharedStorm(world).findings()
            }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}

/// Four processes with twenty calls each within twenty seconds, while tokens expire every five.
private struct SharedStorm: Sendable {
    private let world: SessionWorld
    private let processes: [OAuthSession]
    private let outcomes = Locked<[String: Int]>([:])
    /// As which user each call went out first; it may go out as no other.
    private let users = Locked<[String: String]>([:])
    private let complaints = Locked<[String]>([])
    /// The user of the last sign-in; nil when it could not be saved at once, and another one may count.
    private let lastSaved = Locked<String?>(nil)

    init(_ world: SessionWorld) async throws {
        self.world = world
        let (sharing, limits) = (CredentialSharing(), RefreshLimits(timeLimit: .seconds(90), maxStarts: 1_000_000))
        processes = (0..<4).map { _ in world.process(sharing: sharing, limits: limits) }
        // A server with a period of grace: then no lost answers end a session.
        world.server.grantGrace()
        world.server.transport.on(.get, "/notes/*") { [users, complaints] request, _ in
            let call = request.url.lastPathComponent
            let token = request.header[.authorization]?.dropFirst("Bearer ".count) ?? ""
            let user = String(token.prefix { $0 != "-" })
            let first = users.withLock { users in
                users[call] = users[call] ?? user
                return users[call]
            }
            if first != user { complaints.withLock { $0.append("call \(call) of \(first ?? "") went out as \(user)") } }
            return .delay(.milliseconds(10), then: world.server.accepts(request) ? .reply(text: "ok") : .status(401))
        }
        try await processes[0].signIn(world.server.signIn("user0", at: world.date))
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for (number, process) in processes.enumerated() {
                for call in 0..<20 { group.addTask { await self.call(process, "\(number).\(call)") } }
            }
            group.addTask { await makeTrouble() }
            group.addTask { await changeUsers() }
        }
        // Failed saves have been made up for by now, and each process looks once more.
        try await world.sleep(.seconds(120))
        for process in processes { try await process.restore() }
        try await check()
        return complaints.withLock { $0 }
    }

    /// One call at its moment; one in five is cancelled after a while.
    private func call(_ process: OAuthSession, _ id: String) async {
        try? await world.sleep(.seconds(20) * world.random.nextFraction())
        let patience =
            world.random.nextFraction() < 0.2 ? Duration.milliseconds(300) * world.random.nextFraction() : nil
        let outcome = await withTaskGroup(of: String?.self) { group in
            group.addTask { await world.call(process, GetNotes(id: id)).outcome }
            if let patience {
                group.addTask {
                    try? await world.sleep(patience)
                    return nil
                }
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            let second = await group.next() ?? nil
            return first ?? second ?? "lost"
        }
        outcomes.withLock { $0[outcome, default: 0] += 1 }
    }

    /// Every second something fails.
    private func makeTrouble() async {
        for _ in 0..<20 {
            try? await world.sleep(.seconds(1))
            switch world.random.nextFraction() {
            case ..<0.2: world.server.fail(.answerLost, .answered(.status(503)))
            case ..<0.3: world.server.fail(.droppedBefore, .answered(.status(429)))
            case ..<0.4: world.server.fail(.refused)
            case ..<0.6: world.server.revokeAccessTokens()
            case ..<0.8:
                world.store.failSaves(with: .full(place: "disk"))
                try? await world.sleep(.milliseconds(700))
                world.store.failSaves(with: nil)
            default: break
            }
        }
    }

    private func changeUsers() async {
        for user in 1...3 {
            try? await world.sleep(.seconds(6) * world.random.nextFraction())
            let process = processes[Int(world.random.nextFraction() * 3.99)]
            if world.random.nextFraction() < 0.5 { try? await process.signOut() }
            let credential = world.server.signIn("user\(user)", at: world.date)
            let isSaved: Void? = try? await process.signIn(credential)
            lastSaved.withLock { $0 = isSaved.map { "user\(user)" } }
        }
    }

    private func check() async throws {
        let stored = try await world.stored(processes[0])
        expect(world.server.reuses == 0, "a spent token came again \(world.server.reuses) times")
        expect(world.server.overlaps == 0, "two refreshes at a time")
        expect(stored != nil, "no token is stored")
        // A refresh whose answer was lost may have been the last: then the server is one ahead.
        let isBehind = stored.map { $0.unanswered > 0 } ?? false
        let user = stored?.credential.accessToken.prefix { $0 != "-" }.description ?? ""
        let refreshToken = world.server.refreshToken(of: user)
        expect(lastSaved.withLock { $0 ?? user } == user, "\(user) is signed in")
        expect(
            isBehind || stored?.credential.refreshToken == refreshToken,
            "the store has another token: \(stored?.credential.refreshToken ?? "none"), not \(refreshToken ?? "none")"
        )
        for (number, process) in processes.enumerated() {
            let header = process.header[.authorization]
            expect(
                header == stored.map { "Bearer \($0.credential.accessToken)" },
                "process \(number) has \(header ?? "nothing"), the store \(stored?.credential.accessToken ?? "nothing")"
            )
        }
        let outcomes = outcomes.withLock { $0 }
        expect(outcomes.values.reduce(0, +) == 80, "calls that have not ended")
        expect(outcomes["ok", default: 0] > 20, "only \(outcomes["ok", default: 0]) calls succeeded: \(outcomes)")
    }

    private func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        guard !condition else { return }
        let complaint = complaint()
        complaints.withLock { $0.append(complaint) }
    }
}

extension CallResult {
    fileprivate var outcome: String {
        error.map { $0.kind == .cancelled ? "cancelled" : "\($0)" } ?? "ok"
    }
}
