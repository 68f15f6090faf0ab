import Dispatch
import Nautilus
import NautilusStreams
import NautilusTesting
import Testing

extension TestKit {
    @Suite("Simulation")
    struct SimulationTests {
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("an hour of sleep takes no time, and its result comes back")
        func sleeps() async throws {
            let now = try await Simulation().run { simulation in
                try await simulation.clock.sleep(for: .seconds(3600))
                return simulation.clock.now.offset
            }
            #expect(now == .seconds(3600))
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("time moves only when no job is left")
        func timeMovesWhenIdle() async throws {
            let instants = try await Simulation(seed: 5).run { simulation in
                async let nap: Void = simulation.clock.sleep(for: .seconds(1))
                var instants: [Duration] = []
                for _ in 0..<1000 {
                    await Task.yield()
                    instants.append(simulation.clock.now.offset)
                }
                try await nap
                return instants + [simulation.clock.now.offset]
            }
            #expect(instants == Array(repeating: .zero, count: 1000) + [.seconds(1)])
        }

        private struct Chat: StreamRequest {
            typealias Message = String
            typealias Result = String
            var route: HttpRoute { ["chat"] }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("the script of a web socket and its next connection are part of it, each time in the same interleaving")
        func webSockets() async throws {
            @Sendable func echoes(seed: UInt64) async throws -> [String] {
                try await Simulation(seed: seed).run { simulation in
                    let (clock, random) = (simulation.clock, simulation.random)
                    let talk: @Sendable (ScriptedWebSocket) async throws -> Void = { socket in
                        for number in 0..<10 {
                            try await clock.sleep(for: .seconds(60) * random.nextFraction())
                            try await socket.send(.text("\(number) after \(clock.now.offset)"))
                        }
                    }
                    let sockets = ScriptedWebSocketTransport(
                        .accept { socket in
                            try await talk(socket)
                            socket.drop()
                        },
                        .accept(talk)
                    )
                    let retrierFactory = BackoffRetrier.factory(.standard.with { $0.random = random })
                    let service = AnyHttpService(apiUrl: "api.test", retrierFactory: retrierFactory, clock: clock)
                        .with { $0.webSocketTransport = sockets }
                    var lines: [String] = []
                    for try await line in try await Chat().schedule(with: service) {
                        try await clock.sleep(for: .seconds(60) * random.nextFraction())
                        lines.append("\(line), read after \(clock.now.offset)")
                    }
                    return lines
                }
            }
            for seed in 1...20 as ClosedRange<UInt64> {
                let lines = try await echoes(seed: seed)
                #expect(lines.count == 20)
                #expect(try await echoes(seed: seed) == lines)
            }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a simulation throws the error of its body as it is")
        func bodyThrows() async {
            struct Odd: Error, Equatable {}
            await #expect(throws: Odd()) { try await Simulation().run { _ in throw Odd() } }
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("tasks that wait for the others to settle resume one after the other, before time moves")
        func settling() async throws {
            let log = try await Simulation().run { simulation in
                let log = Log()
                let waiting = (1...3).map { index in
                    simulation.task {
                        await simulation.settle()
                        await log.add("\(index) at \(simulation.clock.now)")
                        await Task.yield()
                        await log.add("\(index) done")
                    }
                }
                try await simulation.clock.sleep(for: .seconds(1))
                for task in waiting { try await task.value }
                return await log.entries
            }
            let zero = Duration.zero
            #expect(log == ["1 at \(zero)", "1 done", "2 at \(zero)", "2 done", "3 at \(zero)", "3 done"])
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("the body sees the caller's task-local values")
        func taskLocals() async throws {
            let seen = try await Tag.$value.withValue("here") {
                try await Simulation().run { simulation in
                    [Tag.value, try await simulation.task { Tag.value }.value]
                }
            }
            #expect(seen == ["here", "here"])
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("background work of the library runs in the simulation")
        func backgroundTask() async throws {
            let now = try await Simulation(seed: 2).run { simulation in
                let (done, continuation) = AsyncStream.makeStream(of: Duration.self)
                BackgroundTask.start {
                    try? await simulation.clock.sleep(for: .seconds(9))
                    BackgroundTask.start {
                        try? await simulation.clock.sleep(for: .seconds(1))
                        continuation.yield(simulation.clock.now.offset)
                    }
                }
                return await done.first { _ in true }
            }
            #expect(now == .seconds(10))
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("tasks that are left when the body ends are cancelled, and end")
        func leftovers() async throws {
            let simulation = Simulation()
            let ended = Locked<[String]>([])
            try await simulation.run { simulation in
                simulation.task {
                    defer { ended.withLock { $0.append("task") } }
                    try await simulation.clock.sleep(for: .seconds(60))
                }
                BackgroundTask.start {
                    try? await simulation.clock.sleep(for: .seconds(60))
                    ended.withLock { $0.append("background") }
                }
                await simulation.settle()
            }
            #expect(ended.withLock { $0 } == ["task", "background"])
            #expect(simulation.clock.now.offset == .zero)
            #expect(simulation.clock.sleeperCount == 0)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("work that comes back from another thread is waited for")
        func otherThreads() async throws {
            // A busy machine may leave another thread without a turn for longer than the default grace.
            let sum = try await Simulation(grace: .seconds(120)).run { _ in
                var sum = 0
                for index in 1...100 {
                    sum += await withCheckedContinuation { continuation in
                        DispatchQueue.global().async { continuation.resume(returning: index) }
                    }
                }
                return sum
            }
            #expect(sum == 5050)
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        @Test("a hundred simulations at once do not get in each other's way")
        func parallel() async throws {
            try await withThrowingTaskGroup(of: Duration.self) { group in
                for seed in 0..<100 as Range<UInt64> {
                    group.addTask {
                        try await Simulation(seed: seed).run { simulation in
                            for _ in 0..<10 { try await simulation.clock.sleep(for: .seconds(1)) }
                            return simulation.clock.now.offset
                        }
                    }
                }
                for try await now in group { #expect(now == .seconds(10)) }
            }
        }
    }
}

private enum Tag {
    @TaskLocal static var value = "nowhere"
}
