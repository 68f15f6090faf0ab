import Nautilus
import NautilusTesting
import TestSupport
import Testing

extension TestKit {
    @Suite("Simulation, determinism")
    struct SimulationDeterminismTests {
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a storm of 2500 tasks has the same course for the same seed", arguments: [0, 1, 7] as [UInt64])
        func sameSeed(seed: UInt64) async throws {
            let first = try await Storm.course(seed: seed)
            let second = try await Storm.course(seed: seed)
            #expect(first == second)
            #expect(first.count == 22_500)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("different seeds give different courses of the same storm")
        func differentSeeds() async throws {
            let (one, other) = (try await Storm.course(seed: 1), try await Storm.course(seed: 2))
            #expect(one != other)
            #expect(one.count == other.count)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a seed decides the order of the jobs themselves, where nothing else is random")
        func order() async throws {
            let inOrder = Array(0..<200)
            let (zero, one, again, two) = (
                try await Self.order(seed: 0), try await Self.order(seed: 1),
                try await Self.order(seed: 1), try await Self.order(seed: 2)
            )
            #expect(zero == inOrder)
            #expect(one != inOrder && two != inOrder && one != two)
            #expect(one == again)
            #expect(one.sorted() == inOrder && two.sorted() == inOrder)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        private static func order(seed: UInt64) async throws -> [Int] {
            try await Simulation(seed: seed).run { simulation in
                let log = Locked<[Int]>([])
                for index in 0..<200 { simulation.task { log.withLock { $0.append(index) } } }
                await simulation.settle()
                return log.withLock { $0 }
            }
        }
    }
}

/// Thousands of tasks that sleep, meet in actors, wait for each other and are cancelled.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct Storm {
    actor Log {
        var events: [Int] = []
        func add(_ event: Int) { events.append(event) }
    }

    actor Counter {
        var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }

    let simulation: Simulation
    let log = Log()
    let counter = Counter()

    static func course(seed: UInt64) async throws -> [Int] {
        try await Simulation(seed: seed).run { try await Storm(simulation: $0).run() }
    }

    func run() async throws -> [Int] {
        let background = (0..<500).map { index in simulation.task { try await work(index) } }
        await withTaskGroup(of: Void.self) { group in
            for index in 500..<2500 {
                group.addTask { try? await work(index) }
            }
        }
        for task in background { _ = await task.result }
        return await log.events
    }

    private func work(_ index: Int) async throws {
        await log.add(index)
        async let number = counter.next()
        let nap = Duration.milliseconds(Int(simulation.random.nextFraction() * 1000))
        try await simulation.clock.sleep(for: nap)
        await log.add(10_000 + index)
        await log.add(20_000 + (await number))
        await withTaskGroup(of: Void.self) { group in
            for child in 0..<3 {
                group.addTask {
                    do {
                        try await simulation.clock.sleep(for: .milliseconds(child * 5 + index % 7))
                        await Task.yield()
                        await log.add(100_000 + index * 10 + child)
                    } catch {
                        await log.add(200_000 + index * 10 + child)
                    }
                }
            }
            if index.isMultiple(of: 3) {
                try? await simulation.clock.sleep(for: .milliseconds(6))
                group.cancelAll()
            }
        }
        for await item in AsyncStream<Int>(
            Int.self,
            { continuation in
                for item in 0..<3 { continuation.yield(item) }
                continuation.finish()
            }
        ) {
            await log.add(300_000 + index * 10 + item)
        }
    }
}
