import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("ConnectivitySwitch", .endsInTime)
struct ConnectivitySwitchTests {
    @Test("a ConnectivitySwitch is online at first, and a wait then ends at once")
    func online() async throws {
        let connectivity = ConnectivitySwitch()
        #expect(connectivity.isOnline)
        try await connectivity.waitUntilOnline()
        connectivity.set(isOnline: false)
        #expect(!connectivity.isOnline)
    }

    @Test("all who wait for the network go on at once, and later ones wait again")
    func waiting() async throws {
        try await simulate { simulation in
            let connectivity = ConnectivitySwitch(isOnline: false)
            let passed = Counter()
            for round in 1...2 {
                for _ in 1...10 {
                    simulation.start {
                        try? await connectivity.waitUntilOnline()
                        passed.increment()
                    }
                }
                try await simulation.clock.sleep(for: .seconds(1))
                #expect((connectivity.waitingCount, passed.value) == (10, 10 * (round - 1)))
                connectivity.set(isOnline: false)
                #expect(connectivity.waitingCount == 10)
                connectivity.set(isOnline: true)
                #expect(connectivity.waitingCount == 0)
                connectivity.set(isOnline: false)
                try await simulation.clock.sleep(for: .seconds(1))
                #expect(passed.value == 10 * round)
            }
        }
    }

    @Test("a cancelled wait for the network ends alone, before it begins or later")
    func cancellation() async throws {
        let connectivity = ConnectivitySwitch(isOnline: false)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connectivity.waitUntilOnline()
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        try await simulate { simulation in
            await withTaskGroup(of: Bool.self) { group in
                group.addTask { (try? await connectivity.waitUntilOnline()) == nil }
                try? await simulation.clock.sleep(for: .seconds(1))
                #expect(connectivity.waitingCount == 1)
                group.cancelAll()
                #expect(await group.next() == true)
            }
            #expect(connectivity.waitingCount == 0)
        }
    }

    @Test("waits that are cancelled and woken at once each end once, in a thousand interleavings")
    func interleavings() async throws {
        for seed in 1...1_000 as ClosedRange<UInt64> {
            try await simulate(seed: seed) { simulation in
                let connectivity = ConnectivitySwitch(isOnline: false)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 1...5 { group.addTask { try? await connectivity.waitUntilOnline() } }
                    simulation.start { connectivity.set(isOnline: true) }
                    group.cancelAll()
                }
                #expect(connectivity.waitingCount == 0)
            }
        }
    }
}
