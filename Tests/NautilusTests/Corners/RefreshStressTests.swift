import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: thousands of real tasks", .endsInTime)
struct RefreshStressTests {
    /// Ends refreshes after a few yields, and knows whether two ever ran at a time.
    final class Refresher: Sendable {
        private struct State {
            var running = 0
            var mostRunning = 0
            var count = 0
        }

        private let state = Locked(State())
        var count: Int { state.withLock { $0.count } }
        var mostRunning: Int { state.withLock { $0.mostRunning } }

        func run(_ credential: Int) async throws -> Int {
            state.withLock { state in
                state.running += 1
                state.mostRunning = max(state.mostRunning, state.running)
                state.count += 1
            }
            for _ in 0..<20 { await Task.yield() }
            state.withLock { $0.running -= 1 }
            return credential + 1
        }
    }

    private let unlimited = RefreshLimits(maxStarts: .max)

    @Test("B1: ten thousand calls, each rejected once on every one of three generations, cause three refreshes")
    func tenThousand() async throws {
        let refresher = Refresher()
        let coordinator = RefreshCoordinator(
            credential: 0,
            limits: unlimited,
            clock: TestClock(),
            refresh: refresher.run
        )
        for round in 1...3 {
            let credential = try await coordinator.credential()
            let wrong = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...10_000 {
                    group.addTask {
                        let fresh = try? await coordinator.refresh(rejecting: credential)
                        return fresh?.credential == round && fresh?.generation == round + 1
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
            }
            #expect(wrong == 0)
            #expect((refresher.count, refresher.mostRunning) == (round, 1))
        }
        #expect((coordinator.waiterCount, coordinator.runningCount) == (0, 0))
    }

    @Test("B4, B5: whoever is cancelled, at whatever moment, one refresh runs for each generation", arguments: 1...20)
    func cancellations(seed: UInt64) async throws {
        let refresher = Refresher()
        let coordinator = RefreshCoordinator(
            credential: 0,
            limits: unlimited,
            clock: TestClock(),
            refresh: refresher.run
        )
        var random = SplitMix64(seed: seed)
        let calls = (0..<500).map { _ in
            let isReady = Bool.random(using: &random)
            return Task {
                if isReady { await Task.yield() }
                let credential = try await coordinator.credential()
                return (credential, try await coordinator.refresh(rejecting: credential))
            }
        }
        for call in calls where Int.random(in: 0..<3, using: &random) == 0 {
            call.cancel()
            if Bool.random(using: &random) { await Task.yield() }
        }
        var (served, cancelled) = (0, 0)
        for call in calls {
            switch await call.result {
            case .success(let (rejected, fresh)):
                served += 1
                #expect(rejected.generation < fresh.generation)
                #expect(fresh.credential == fresh.generation - 1)
            case .failure(let error):
                cancelled += error is CancellationError ? 1 : 0
            }
        }
        #expect(served + cancelled == 500, "nobody fails otherwise, and nobody is left behind")
        await eventually("the last refresh has ended") { coordinator.runningCount == 0 }
        let generation = try #require(coordinator.current).generation
        #expect((refresher.count, refresher.mostRunning) == (generation - 1, 1), "no refresh was in vain")
        #expect(coordinator.waiterCount == 0)
    }

    @Test("invariant 6: while users change, no call gets a credential that follows another user's", arguments: 1...20)
    func usersChange(seed: UInt64) async throws {
        let refresher = Refresher()
        let coordinator = RefreshCoordinator(
            credential: 0,
            limits: unlimited,
            clock: TestClock(),
            refresh: refresher.run
        )
        // A user's credentials lie in a thousand of their own.
        let calls = (0..<500).map { _ in
            Task { () -> Bool in
                guard let credential = try? await coordinator.credential() else { return true }
                await Task.yield()
                guard let fresh = try? await coordinator.refresh(rejecting: credential) else { return true }
                await Task.yield()
                guard let next = try? await coordinator.credential(continuing: fresh) else { return true }
                let users = [credential, fresh, next].map { $0.credential / 1_000 }
                return Set(users).count == 1
            }
        }
        var random = SplitMix64(seed: seed)
        for user in 1...10 {
            for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
            if Bool.random(using: &random) { coordinator.signOut() }
            coordinator.signIn(user * 1_000)
        }
        var mixed = 0
        for call in calls where await !call.value { mixed += 1 }
        #expect(mixed == 0)
        await eventually("all refreshes have ended") { coordinator.runningCount == 0 }
        #expect(coordinator.current.map { $0.credential / 1_000 } == 10)
        #expect(coordinator.waiterCount == 0)
    }

    @Test("gate, pauses, events and reading work beside all this")
    func everythingAtOnce() async throws {
        let (refresher, clock, origin) = (Refresher(), TestClock(), try testOrigin())
        let unlimited = RefreshLimits(timeLimit: .seconds(1_000_000), maxStarts: .max)
        let coordinator = RefreshCoordinator(credential: 0, limits: unlimited, clock: clock, refresh: refresher.run)
        let events = coordinator.events
        let reader = Task {
            var generations: [Int] = []
            for await case .refreshed(let generation) in events { generations.append(generation) }
            return generations
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    switch number % 4 {
                    case 0:
                        guard let credential = try? await coordinator.credential() else { return }
                        _ = try? await coordinator.refresh(rejecting: credential)
                    case 1: try? await coordinator.pass(to: origin)
                    case 2: coordinator.close(origin, for: .seconds(1))
                    default:
                        _ = coordinator.current
                        clock.advance(by: .seconds(2))
                    }
                }
            }
            group.addTask {
                // Tasks that still sleep on a pause are woken by and by.
                while coordinator.remainingPause(of: origin) > .zero { clock.advance(by: .seconds(1)) }
            }
            while await group.next() != nil { clock.advance(by: .seconds(1)) }
        }
        await eventually("all refreshes have ended") { coordinator.runningCount == 0 }
        #expect(refresher.mostRunning == 1)
        let last = try #require(coordinator.current).generation
        #expect(last == refresher.count + 1)
        #expect(coordinator.waiterCount == 0)
        reader.cancel()
        let seen = await reader.value
        #expect(seen == seen.sorted(), "events come in the order of what happened")
    }
}
