import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("Processes with a failing store and a server without grace")
struct NoGraceStormTests {
    @Test("no token is spent twice, and no session is lost")
    func storm() async throws {
        try await forEachSeed(10) { seed in
            let findings = try await simulate(seed: seed) { simulation in
                let world = SessionWorld(simulation, lifetime: .seconds(60))
                return try await NoGraceStorm(world).findings()
            }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}

/// Three processes whose tokens serve for a minute, for half an hour.
private struct NoGraceStorm: Sendable {
    private let world: SessionWorld
    private let base = MemoryStore()
    private let stores: [UnrulyStore]
    private let processes: [OAuthSession]
    private let events = Locked<[String]>([])

    init(_ world: SessionWorld) async throws {
        self.world = world
        let base = base
        stores = (0..<3).map { _ in UnrulyStore(base, world.clock, world.random, slowness: (0.3, .seconds(29))) }
        let limits = RefreshLimits(timeLimit: .seconds(90), maxStarts: 1_000_000)
        processes = stores.map { store in world.process(store: store, limits: limits) }
        world.server.setDelay(.seconds(3))
        try await processes[0].signIn(world.server.signIn("anna", at: world.date))
    }

    func findings() async throws -> [String] {
        await withTaskGroup(of: Void.self) { group in
            for (number, process) in processes.enumerated() {
                for _ in 0..<60 {
                    group.addTask {
                        try? await world.sleep(.seconds(1800) * world.random.nextFraction())
                        _ = await world.call(process)
                    }
                }
                group.addTask { await makeTrouble(stores[number]) }
            }
        }
        for store in stores { store.trouble(false) }
        try await world.sleep(.seconds(900))
        for process in processes { _ = await world.call(process) }
        try await world.sleep(.seconds(60))
        var complaints: [String] = []
        if world.server.reuses > 0 { complaints.append("a spent token came again \(world.server.reuses) times") }
        if world.server.overlaps > 0 { complaints.append("\(world.server.overlaps) refreshes beside others") }
        for (number, process) in processes.enumerated() {
            let isOk = await world.call(process).isOk
            if !isOk { complaints.append("process \(number) fails: \(process)") }
        }
        return complaints
    }

    private func makeTrouble(_ store: UnrulyStore) async {
        for _ in 0..<20 {
            store.trouble(world.random.nextFraction() < 0.6)
            try? await world.sleep(.seconds(90) * world.random.nextFraction())
        }
    }
}
