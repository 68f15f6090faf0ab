import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The credentials of several services")
struct SessionCasesTests {
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
                        _ = try await Ping(route: ["token"]).schedule(with: service)
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
            guard case .recursive? = result.refreshError else {
                return #expect(Bool(false), "\(String(describing: result.error))")
            }
            #expect(result.error?.description.contains("send it through a service without this coordinator") == true)
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
        arguments: TokenWorld.seeds
    )
    func signOutWhileRefreshing(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            // The refresh ignores its cancellation: its result comes late.
            let world = TokenWorld(
                simulation,
                refresh: { server, _ in try await uncancelled { try await server.issue() } }
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
        arguments: TokenWorld.seeds
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
        "B12: a call that was authorized as A and whose 401 comes after B has signed in is never sent as B",
        arguments: TokenWorld.seeds
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

    @Test(
        "B13: a call that starts during a refresh waits and is sent once, with the new credential",
        arguments: TokenWorld.seeds
    )
    func duringRefresh(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation)
            async let first = world.call()
            try await simulation.clock.sleep(for: .milliseconds(30))
            let second = await world.call(Ping(route: ["second"]))
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
            let credential = try #require(world.coordinator.current)
            world.coordinator.replace(credential, with: Token(number: 5))
            #expect(await result.isOk)
            #expect(world.server.refreshCount == 0)
            #expect(world.sentTokens == ["Bearer token-1", "Bearer token-5"])
        }
    }

    @Test("B15: a refresh that finishes at once serves all, without a deadlock", arguments: TokenWorld.seeds)
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
            #expect(await world.call(Ping(url: "https://other.example.com")).error?.status == 401)
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
            let result = await world.call(Ping(method: .put, body: .stream(chunks)))
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
private func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
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
