import Foundation
import Nautilus
import NautilusTesting
import Testing

/// Every case runs in a number of interleavings, since each is a claim about all of them.
private let seeds: Range<UInt64> = 0..<25

@Suite("One refresh for all calls")
struct RefreshCasesTests {
    @Test("B1: a hundred calls rejected together cause one refresh and succeed, with 200 sends", arguments: seeds)
    func together(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            let results = await world.calls(100)
            #expect(results.allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 1)
            #expect(world.transport.count == 200)
        }
    }

    @Test("B2: a 401 that comes after the refresh re-sends with the new credential, without another", arguments: seeds)
    func late(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(
                simulation,
                answer: { request, isAccepted in
                    let delay: Duration = request.url.path == "/late" ? .seconds(5) : .milliseconds(10)
                    return .delay(delay, then: isAccepted ? .reply(text: "ok") : .status(401))
                }
            )
            async let late = world.call(Call(route: ["late"]))
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

    @Test("B3: six calls with an expired credential cause one refresh, and are sent once each", arguments: seeds)
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
        arguments: seeds
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

    @Test("B5: all waiting calls are cancelled, and the new credential is kept all the same", arguments: seeds)
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
        "B6: a transient failure fails the twenty who wait, re-sends nothing, and is over after the cool-down",
        arguments: seeds
    )
    func transient(seed: UInt64) async throws {
        struct Down: Error {}
        try await simulate(seed: seed) { simulation in
            let failures = Counter()
            let world = TokenWorld(
                simulation,
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
                guard case .failed(let underlying) = result.refreshError else {
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

    @Test("B7: a terminal failure expires the session once, and later calls fail without network", arguments: seeds)
    func terminal(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in try await server.refuse(with: TerminalRefreshFailure("invalid_grant")) }
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

    @Test("B10: a refresh that goes through its own service gets an error at once, and nobody waits for ever")
    func recursive() async throws {
        try await simulate { simulation in
            let own = Locked<AnyHttpService<HttpError>?>(nil)
            let inner = Locked<HttpError?>(nil)
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in
                    guard let service = own.withLock({ $0 }) else { return Token(number: 0) }
                    do throws(HttpError) {
                        _ = try await Call(route: ["token"]).schedule(with: service)
                        return Token(number: 0)
                    } catch {
                        inner.withLock { $0 = error }
                        throw error
                    }
                }
            )
            own.withLock { $0 = world.service }
            let result = await world.call()
            #expect(result.error?.kind == .authorization)
            let error = inner.withLock { $0 }
            guard case .recursive? = error?.underlying as? RefreshError else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(simulation.clock.now.offset == .milliseconds(10))
            #expect(world.transport.count == 1)
        }
    }

    @Test(
        "B11: a sign-out while refreshing leaves nobody signed in; waiting calls fail, the late result is dropped",
        arguments: seeds
    )
    func signOutWhileRefreshing(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            // The refresh does not heed its cancellation: its result comes late.
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in try await heedless { try await server.issue() } }
            )
            async let results = world.calls(5)
            try await simulation.clock.sleep(for: .milliseconds(30))
            world.coordinator.signOut()
            #expect(await results.allSatisfy { $0.error?.kind == .authorization })
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(world.server.refreshCount == 1)
            #expect(world.coordinator.current == nil)
            #expect(world.transport.count == 5)
        }
    }

    @Test(
        "B12: signing in as B while A's refresh is in flight keeps B's credential, and A's calls never go out as B",
        arguments: seeds
    )
    func signInWhileRefreshing(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            async let results = world.calls(5)
            try await simulation.clock.sleep(for: .milliseconds(30))
            world.coordinator.signIn(Token(number: 77))
            #expect(await results.allSatisfy { if case .superseded = $0.refreshError { true } else { false } })
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(world.coordinator.current?.credential == Token(number: 77))
            #expect(!world.sentTokens.contains("Bearer token-77"))
        }
    }

    @Test(
        "B12: a call that was stamped as A and whose 401 comes after B has signed in is never sent as B",
        arguments: seeds
    )
    func signInBeforeRejection(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            async let results = world.calls(5)
            try await simulation.clock.sleep(for: .milliseconds(5))
            world.coordinator.signIn(Token(number: 77))
            #expect(await results.allSatisfy { if case .superseded = $0.refreshError { true } else { false } })
            #expect(world.server.refreshCount == 0)
            #expect(world.transport.count == 5)
        }
    }

    @Test("B13: a call that starts during a refresh waits and is sent once, with the new credential", arguments: seeds)
    func duringRefresh(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            async let first = world.call()
            try await simulation.clock.sleep(for: .milliseconds(30))
            let second = await world.call(Call(route: ["second"]))
            #expect(second.isOk)
            #expect(await first.isOk)
            #expect(
                world.transport.attempts(at: .get, "/second").map { $0.header[.authorization] } == ["Bearer token-2"]
            )
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("B14: a credential that was replaced before the 401 was handled is used, without a refresh")
    func replacedMeanwhile() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, accepting: [5])
            async let result = world.call()
            try await simulation.clock.sleep(for: .milliseconds(5))
            let grant = try #require(world.coordinator.current)
            world.coordinator.replace(grant, with: Token(number: 5))
            #expect(await result.isOk)
            #expect(world.server.refreshCount == 0)
            #expect(world.sentTokens == ["Bearer token-1", "Bearer token-5"])
        }
    }

    @Test("B15: a refresh that finishes at once serves all, without a deadlock", arguments: seeds)
    func synchronous(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation, refresh: { server, _ in try await server.issue(after: .zero) })
            #expect(await world.calls(50).allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test(
        "B16: 403, and a 401 that asks for more scope, do not refresh",
        arguments: [
            ScriptedReply.status(403),
            .status(401, header: ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="notes:write""#]),
            .status(
                401,
                header: ["WWW-Authenticate": #"Basic realm="a, b", BEARER realm=x, Error="Insufficient_Scope""#]
            ),
        ]
    )
    func noRefresh(_ reply: ScriptedReply) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, answer: { _, _ in reply })
            #expect(await world.call().error != nil)
            #expect(world.server.refreshCount == 0)
            #expect(world.transport.count == 1)
        }
    }

    @Test("B16: a 401 from another origin, reached directly or by redirect, does not refresh, and sees no credential")
    func otherOrigin() async throws {
        try await simulate { simulation in
            let world = TokenWorld(
                simulation,
                answer: { request, _ in
                    request.url.host == "other.example.com"
                        ? .status(401) : .status(302, header: ["Location": "https://other.example.com/"])
                }
            )
            #expect(await world.call().error?.status == 401)
            #expect(await world.call(Call(url: "https://other.example.com")).error?.status == 401)
            #expect(world.server.refreshCount == 0)
            #expect(world.sentTokens == ["Bearer token-1", nil, nil])
        }
    }

    @Test(
        "B21: a one-shot body is not sent again after the refresh: its 401 surfaces, the next call has the credential"
    )
    func oneShotBody() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation)
            let chunks = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("once".utf8))
                continuation.finish()
            }
            let result = await world.call(Call(method: .put, body: .stream(chunks)))
            #expect(result.error?.kind == .status(401))
            #expect(result.error?.trace.attempts.last?.decision?.reason == .bodySpent)
            #expect(world.server.refreshCount == 1)
            #expect(await world.call().isOk)
            #expect(world.transport.count == 2)
            #expect(world.server.refreshCount == 1)
        }
    }
}

/// Runs `work` in a way that no cancellation reaches.
private func heedless<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        BackgroundTask.start {
            do {
                continuation.resume(returning: try await work())
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
