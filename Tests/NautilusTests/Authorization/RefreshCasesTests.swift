import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("One refresh for all calls")
struct RefreshCasesTests {
    @Test(
        "B1: a hundred calls rejected together cause one refresh and succeed, with 200 sends",
        arguments: TokenWorld.seeds
    )
    func together(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            let results = await world.calls(100)
            #expect(results.allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 1)
            #expect(world.transport.count == 200)
        }
    }

    @Test(
        "B2: a 401 that comes after the refresh re-sends with the new credential, without another",
        arguments: TokenWorld.seeds
    )
    func late(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(
                simulation,
                answer: { request, isAccepted in
                    let delay: Duration = request.url.path == "/late" ? .seconds(5) : .milliseconds(10)
                    return .delay(delay, then: isAccepted ? .reply(text: "ok") : .status(401))
                }
            )
            async let late = world.call(Ping(route: ["late"]))
            let early = await world.call()
            #expect(early.isOk)
            #expect(await late.isOk)
            #expect(world.server.refreshCount == 1)
            #expect(
                world.transport.attempts(at: .get, "/late").map { $0.header[.authorization] } == [
                    "Bearer token-1", "Bearer token-2",
                ]
            )
        }
    }

    @Test(
        "B3: six calls with an expired credential cause one refresh, and are sent once each",
        arguments: TokenWorld.seeds
    )
    func expired(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation, lifetime: .seconds(10))
            simulation.clock.advance(by: .seconds(10))
            let results = await world.calls(6)
            #expect(results.allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 1)
            #expect(world.sentTokens == Array(repeating: "Bearer token-2", count: 6))
        }
    }

    @Test(
        "B4: the call that started the refresh is cancelled and ends at once; the other nine succeed",
        arguments: TokenWorld.seeds
    )
    func starterCancelled(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    #expect(await world.call().error?.kind == .cancelled)
                    #expect(simulation.clock.now.offset == .milliseconds(25))
                }
                try await simulation.clock.sleep(for: .milliseconds(5))
                async let others = world.calls(9)
                // The starter's 401 came at 10 ms, the others' at 15 ms; the refresh takes until 60 ms.
                try await simulation.clock.sleep(for: .milliseconds(20))
                #expect(world.server.refreshCount == 1)
                group.cancelAll()
                #expect(await others.count { $0.isOk } == 9)
            }
            #expect(world.server.refreshCount == 1)
            #expect(world.coordinator.current?.credential == Token(number: 2))
        }
    }

    @Test(
        "B5: all waiting calls are cancelled, and the new credential is kept all the same",
        arguments: TokenWorld.seeds
    )
    func allCancelled(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let results = await world.calls(5)
                    #expect(results.allSatisfy { $0.error?.kind == .cancelled })
                }
                try await simulation.clock.sleep(for: .milliseconds(30))
                group.cancelAll()
            }
            #expect(simulation.clock.now.offset == .milliseconds(30))
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(world.coordinator.current?.credential == Token(number: 2))
            #expect(world.server.refreshCount == 1)
            #expect(await world.call().isOk)
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test(
        "B6: a transient failure fails the twenty that have no time to wait, and is over after the cool-down",
        arguments: TokenWorld.seeds
    )
    func transient(seed: UInt64) async throws {
        struct Down: Error {}
        try await simulate(seed: seed) { simulation in
            let failures = Counter()
            let world = TokenWorld(
                simulation,
                limits: RefreshLimits(maxCoolDowns: 0),
                refresh: { server, _ in
                    if failures.increment() == 1 { return try await server.refuse(with: Down()) }
                    return try await server.issue()
                }
            )
            let results = await world.calls(20)
            #expect(world.server.refreshCount == 1)
            #expect(world.transport.count == 20)
            for result in results {
                #expect(result.error?.kind == .authorization)
                #expect(result.error?.status == 401)
                guard case .failed(_, let underlying) = result.refreshError else {
                    Issue.record("another error: \(result)")
                    continue
                }
                #expect(underlying is Down)
            }
            // The cool-down is 1 s at most; within it nothing goes out.
            let cooling = await world.call()
            guard case .coolingDown = cooling.refreshError else { return #expect(Bool(false), "\(cooling)") }
            #expect(world.transport.count == 20)
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(await world.call().isOk)
            #expect(world.server.refreshCount == 2)
        }
    }

    @Test(
        "B7: a terminal failure expires the session once, and later calls fail without network",
        arguments: TokenWorld.seeds
    )
    func terminal(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in try await server.refuse(with: RefreshError.Terminal("invalid_grant")) }
            )
            let events = world.coordinator.events
            let results = await world.calls(20)
            #expect(results.allSatisfy { if case .sessionExpired = $0.refreshError { true } else { false } })
            #expect(world.transport.count == 20)
            let later = await world.calls(10)
            #expect(later.allSatisfy { if case .sessionExpired = $0.refreshError { true } else { false } })
            #expect(world.transport.count == 20)
            #expect(world.server.refreshCount == 1)
            #expect(world.coordinator.current == nil)
            world.coordinator.signIn(Token(number: 9))
            var expirations = 0
            for await event in events {
                if case .sessionExpired = event { expirations += 1 }
                if case .signedIn = event { break }
            }
            #expect(expirations == 1)
        }
    }

    @Test("B8: a fresh credential that is rejected again is an error, not a loop")
    func rejectedAgain() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, refresh: { server, _ in try await server.issue(isAccepted: false) })
            let result = await world.call()
            #expect(result.error?.kind == .status(401))
            #expect(world.server.refreshCount == 1)
            #expect(world.transport.count == 2)
        }
    }

    @Test("B9: with a server that always rejects, a hundred calls refresh five times in 30 s")
    func refreshLoop() async throws {
        try await simulate { simulation in
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in try await server.issue(after: .zero, isAccepted: false) }
            )
            for index in 0..<100 {
                let result = await world.call()
                // The first five each spend a refresh; after that the dead credential is not even sent.
                if index < 5 {
                    #expect(result.error?.kind == .status(401))
                } else {
                    guard case .tooManyRefreshes = result.refreshError else {
                        return #expect(Bool(false), "\(index): \(result)")
                    }
                }
            }
            #expect(simulation.clock.now.offset < .seconds(30))
            #expect(world.server.refreshCount == 5)
            try await simulation.clock.sleep(for: .seconds(30))
            _ = await world.call()
            #expect(world.server.refreshCount > 5)
        }
    }
}
