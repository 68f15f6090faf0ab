import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

/// 12.14: the token endpoint fails for a while. A call's 401 comes after 10 ms, a refresh takes 50 ms.
@Suite("C14: calls during a cool-down")
struct RefreshOutageTests {
    typealias Refresh = @Sendable (TokenServer, Token) async throws -> Token

    static let unavailable = HttpError(.status(503), stage: .validate)

    /// A token endpoint whose first refreshes fail.
    static func failing(_ count: Int, with error: any Error = unavailable) -> Refresh {
        let refreshes = Counter()
        return { server, _ in
            if refreshes.increment() <= count { return try await server.refuse(with: error) }
            return try await server.issue()
        }
    }

    /// Limits with a cool-down that is always the same.
    static func limits(
        coolDown: Duration = .seconds(4),
        maxWait: Duration = .seconds(30),
        maxCoolDowns: Int = 10
    ) -> RefreshLimits {
        RefreshLimits(
            coolDown: .constant(coolDown, jitter: .none),
            maxWait: maxWait,
            maxCoolDowns: maxCoolDowns
        )
    }

    @Test(
        "B6: after one 503 of the token endpoint a hundred calls join one refresh, and are sent once more each",
        arguments: TokenWorld.seeds
    )
    func oneFailure(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation, refresh: Self.failing(1))
            let results = await world.calls(100)
            #expect(results.allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 2)
            #expect(world.transport.count == 200)
            // With the defaults the cool-down is 500 ms to 1 s; nothing goes out in it.
            #expect(simulation.clock.now.offset >= .milliseconds(10 + 50 + 500 + 50 + 10))
            #expect(simulation.clock.now.offset <= .milliseconds(10 + 50 + 1000 + 50 + 10))
        }
    }

    @Test(
        "calls that begin during a cool-down wait unsent for the same refresh as the others",
        arguments: TokenWorld.seeds
    )
    func comesDuringCoolDown(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(), refresh: Self.failing(1))
            async let rejected = world.calls(10)
            try await simulation.clock.sleep(for: .seconds(1))
            let unsent = await world.calls(10)
            #expect(await (rejected + unsent).allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 2)
            #expect(world.transport.count == 30)
            #expect(!world.sentTokens.dropFirst(10).contains("Bearer token-1"), "nothing is sent with the dead token")
            #expect(simulation.clock.now.offset == .milliseconds(10 + 50 + 4000 + 50 + 10))
        }
    }

    @Test(
        "a deadline decides, to the nanosecond, whether the cool-down is waited out",
        arguments: [
            // The cool-down ends at 4.06 s, the refresh at 4.11 s, the call at 4.12 s.
            (Duration.milliseconds(4060), "failed, next in 4 s", Duration.milliseconds(60)),
            // The wait has begun, and the deadline ends it: the last real failure surfaces.
            (.milliseconds(4060) + .nanoseconds(1), "status 401", .milliseconds(4060) + .nanoseconds(1)),
            (.milliseconds(4109), "status 401", .milliseconds(4109)),
            (.milliseconds(4120) + .nanoseconds(1), "ok", .milliseconds(4120)),
            (.seconds(300), "ok", .milliseconds(4120)),
        ]
    )
    func deadline(_ deadline: Duration, expected: String, end: Duration) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(maxWait: .zero), refresh: Self.failing(1))
            let result = await world.call(Ping(deadline: deadline))
            #expect(Self.summary(result) == expected)
            #expect(simulation.clock.now.offset == end)
            #expect(world.transport.count == (expected == "ok" ? 2 : 1), "nothing is sent with the dead token")
        }
    }

    @Test(
        "without a deadline the maxWait decides, counted from when the call asks",
        arguments: [
            (Duration.zero, "failed, next in 4 s"),
            (.milliseconds(4050), "failed, next in 4 s"),
            (.milliseconds(4050) + .nanoseconds(1), "ok"),
            (.seconds(Int64.max), "ok"),
        ]
    )
    func maxWait(_ maxWait: Duration, expected: String) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(maxWait: maxWait), refresh: Self.failing(1))
            #expect(await Self.summary(world.call()) == expected)
        }
    }

    @Test("a call that has no time for the rest of the cool-down fails unsent, and says how long that is")
    func hasNoTime() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(maxCoolDowns: 0), refresh: Self.failing(1))
            #expect(await Self.summary(world.call()) == "failed, next in 4 s")
            try await simulation.clock.sleep(for: .seconds(1))
            let result = await world.call()
            #expect(Self.summary(result) == "cooling down, next in 3 s")
            #expect(result.error?.retryAfter == .seconds(3))
            #expect(world.transport.count == 1)
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("a call waits out as many cool-downs as the limit says, and no more", arguments: [(2, "ok"), (3, "failed")])
    func countsCoolDowns(failures: Int, expected: String) async throws {
        try await simulate { simulation in
            let limits = Self.limits(coolDown: .seconds(1), maxCoolDowns: 2)
            let world = TokenWorld(simulation, limits: limits, refresh: Self.failing(failures))
            let results = await world.calls(20, Ping(deadline: .seconds(300)))
            #expect(results.allSatisfy { Self.summary($0).hasPrefix(expected) })
            #expect(world.server.refreshCount == 3)
            #expect(simulation.clock.now.offset < .seconds(3))
        }
    }

    @Test("refreshes that fail fill the window like others, and the call waits until it has room")
    func waitsForWindow() async throws {
        try await simulate { simulation in
            let limits = Self.limits(coolDown: .seconds(1))
            let world = TokenWorld(simulation, limits: limits, refresh: Self.failing(5))
            #expect(await world.call(Ping(deadline: .seconds(60))).isOk)
            #expect(world.server.refreshCount == 6)
            // The first started at 10 ms; the sixth does 30 s later.
            #expect(simulation.clock.now.offset == .milliseconds(10 + 30_000 + 50 + 10))
        }
    }

    @Test(
        "the token endpoint's Retry-After lengthens the cool-down, up to the cap",
        arguments: [(3, "ok", Duration.milliseconds(3120)), (3600, "failed, next in 60 s", .milliseconds(60))]
    )
    func retryAfter(seconds: Int, expected: String, end: Duration) async throws {
        try await simulate { simulation in
            let failure = HttpError(.status(503), stage: .validate, retryAfter: .seconds(seconds))
            let limits = Self.limits(coolDown: .seconds(1))
            let world = TokenWorld(simulation, limits: limits, refresh: Self.failing(1, with: failure))
            #expect(await Self.summary(world.call()) == expected)
            #expect(simulation.clock.now.offset == end)
        }
    }

    /// A failure of the user's own that does not pass.
    struct Unregistered: RefreshFailure {
        var isTransient: Bool { false }
        var retryAfter: Duration? { nil }
    }

    static let lastingFailures: [any Error] = [
        HttpError(.status(400), stage: .validate), HttpError(.decoding, stage: .decode), Unregistered(),
        RefreshError.signedOut, HttpError(.authorization, stage: .prepare, underlying: RefreshError.signedOut),
    ]

    @Test(
        "a failure that does not pass with time is not waited for, neither at once nor later",
        arguments: lastingFailures
    )
    func lasting(failure: any Error) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(), refresh: Self.failing(1, with: failure))
            #expect(await world.calls(3).allSatisfy { Self.summary($0) == "failed, next in 4 s" })
            #expect(await Self.summary(world.call()) == "cooling down, next in 4 s")
            #expect(simulation.clock.now.offset == .milliseconds(60))
        }
    }

    static let passingFailures: [any Error] = [
        HttpError(.status(429), stage: .validate), HttpError(.transport(.notConnectedToInternet), stage: .send),
        HttpError(.deadline(.seconds(1)), stage: .send), HttpError(.timeout(.seconds(1)), stage: .send),
        RefreshError.timedOut(limit: .seconds(1), remaining: nil), CancellationError(),
        HttpError(
            .authorization,
            stage: .prepare,
            underlying: RefreshError.failed(remaining: .zero, underlying: CancellationError())
        ),
    ]

    @Test("a failure that passes with time is waited for", arguments: passingFailures)
    func passing(failure: any Error) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(), refresh: Self.failing(1, with: failure))
            #expect(await world.calls(3).allSatisfy { $0.isOk })
            #expect(world.server.refreshCount == 2)
        }
    }

    /// How a call ended, in a few words.
    static func summary(_ result: CallResult) -> String {
        guard let error = result.error else { return "ok" }
        let next = error.retryAfter.map { ", next in \($0.brief)" } ?? ""
        return switch result.refreshError {
        case .failed: "failed" + next
        case .coolingDown: "cooling down" + next
        case .superseded: "superseded" + next
        case .signedOut: "signed out" + next
        default: "\(error.kind)" + next
        }
    }
}

extension RefreshOutageTests {
    @Test(
        "B11, B12: signing out or in during a cool-down ends the wait at once, and nobody goes out as another user",
        arguments: TokenWorld.seeds
    )
    func userChanges(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(), refresh: Self.failing(1))
            async let rejected = world.calls(5)
            try await simulation.clock.sleep(for: .seconds(1))
            async let unsent = world.calls(5)
            try await simulation.clock.sleep(for: .seconds(1))
            if seed.isMultiple(of: 2) { world.coordinator.signOut() }
            world.coordinator.signIn(Token(number: 77))
            let end = seed.isMultiple(of: 2) ? "signed out" : "superseded"
            #expect(await (rejected + unsent).allSatisfy { Self.summary($0) == end })
            #expect(simulation.clock.now.offset == .seconds(2))
            try await simulation.clock.sleep(for: .seconds(60))
            #expect(world.server.refreshCount == 1)
            #expect(!world.sentTokens.contains("Bearer token-77"))
        }
    }

    @Test("a replacement from elsewhere serves at once those who wait out a cool-down")
    func replaced() async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, accepting: [5], limits: Self.limits(), refresh: Self.failing(1))
            async let results = world.calls(5)
            try await simulation.clock.sleep(for: .seconds(1))
            let credential = try #require(world.coordinator.current)
            world.coordinator.replace(credential, with: Token(number: 5))
            #expect(await results.allSatisfy { $0.isOk })
            #expect(simulation.clock.now.offset == .milliseconds(1010))
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("a terminal failure after a cool-down ends the session for all who waited")
    func terminalLater() async throws {
        try await simulate { simulation in
            let refreshes = Counter()
            let world = TokenWorld(
                simulation,
                limits: Self.limits(),
                refresh: { server, _ in
                    let isFirst = refreshes.increment() == 1
                    return try await server.refuse(
                        with: isFirst ? Self.unavailable : RefreshError.Terminal("invalid_grant")
                    )
                }
            )
            let results = await world.calls(5)
            #expect(results.allSatisfy { if case .sessionExpired = $0.refreshError { true } else { false } })
            #expect(world.server.refreshCount == 2)
            #expect(world.transport.count == 5)
        }
    }

    @Test(
        "B4, B5: whoever is cancelled during a cool-down ends at once; without anybody left no refresh starts",
        arguments: [true, false]
    )
    func cancelled(all: Bool) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, limits: Self.limits(), refresh: Self.failing(1))
            async let other = all ? nil : world.call()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    #expect(await world.calls(5).allSatisfy { $0.error?.kind == .cancelled })
                    #expect(simulation.clock.now.offset == .seconds(1))
                }
                try await simulation.clock.sleep(for: .seconds(1))
                group.cancelAll()
            }
            try await simulation.clock.sleep(for: .seconds(60))
            #expect(await other?.isOk ?? true)
            #expect(world.server.refreshCount == (all ? 1 : 2))
        }
    }
}
