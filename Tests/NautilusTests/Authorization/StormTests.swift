import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Invariants of a refresh storm")
struct StormTests {
    @Test("B23: no invariant breaks in any interleaving of random failures, revocations and cancellations")
    func manySeeds() async throws {
        try await forEachSeed(200) { try await Self.storm(calls: 20, seed: $0) }
    }

    /// Ten million calls take half an hour of an optimised build, with `NAUTILUS_EFFORT=1000`.
    @Test("B23: no invariant breaks among ten thousand calls")
    func manyCalls() async throws {
        try await forEachSeed(1) { try await Self.storm(calls: min(10_000, trials(10_000)), seed: 22 + $0) }
    }

    private static func storm(calls: Int, seed: UInt64) async throws {
        let findings = try await simulate(seed: seed) { simulation in
            // Every other storm has users who come and go.
            let storm = Storm(simulation, calls: calls, hasUsers: seed.isMultiple(of: 2))
            await storm.run(calls: calls)
            return storm.findings()
        }
        #expect(findings.isEmpty, "seed \(seed): \(findings)")
    }
}

/// One service in bad weather, which keeps count of how its calls end.
private struct Storm: Sendable {
    private let simulation: Simulated
    private let server: StormServer
    private let coordinator: RefreshCoordinator<Token>
    private let transport: ScriptedTransport
    private let service: AnyHttpService<HttpError>
    private let outcomes = Locked<[String: Int]>([:])
    private let hasUsers: Bool

    /// - Parameter calls: How many there will be: the server revokes its tokens about four times.
    init(_ simulation: Simulated, calls: Int, hasUsers: Bool) {
        let weather = StormWeather(revocation: 4 / Double(calls), hasUsers: hasUsers)
        let server = StormServer(simulation, weather)
        let (clock, random) = (simulation.clock, simulation.random)
        let coordinator = RefreshCoordinator(
            credential: StormServer.firstToken,
            lifetime: { _ in hasUsers ? .seconds(2) : nil },
            // The window has its own case, B9; here it would end the storm.
            limits: RefreshLimits(maxStarts: 1_000_000),
            clock: clock,
            random: random
        ) { token in
            try await server.refresh(token)
        }
        let transport = ScriptedTransport(clock: clock) { request, _ in server.answer(request) }
        self.simulation = simulation
        self.server = server
        self.coordinator = coordinator
        self.transport = transport
        self.hasUsers = hasUsers
        self.service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: .composed(
                AuthorizationRetrier.factory(coordinator),
                BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .exponential(base: .milliseconds(50), cap: .seconds(1))
                        // The storm is about credentials, and all its seeds share a process.
                        $0.budget = .unlimited
                        $0.gate = coordinator
                        $0.random = random
                    }
                )
            ),
            transport: transport,
            clock: clock
        )
    }

    /// A storm in bunches: a task group takes longer to lose a child the more it has.
    func run(calls: Int) async {
        let bunch = 100
        await withTaskGroup(of: Void.self) { group in
            if hasUsers { group.addTask { await changeUsers(within: duration(of: calls)) } }
            for start in stride(from: 0, to: calls, by: bunch) {
                group.addTask {
                    await withTaskGroup(of: Void.self) { group in
                        for index in start..<min(start + bunch, calls) {
                            group.addTask { await call(index, of: calls) }
                        }
                    }
                }
            }
        }
    }

    private func call(_ index: Int, of calls: Int) async {
        let random = simulation.random
        let start = duration(of: calls) * random.nextFraction()
        let patience = random.nextFraction() < 0.2 ? Duration.milliseconds(300) * random.nextFraction() : nil
        var request = index % 3 == 0 ? Ping.keyedPost : .get
        request.header["X-Call"] = "\(index)"
        await call(request, start: start, patience: patience)
    }

    /// A thousand calls a second; few calls still spread over a few exchanges.
    private func duration(of calls: Int) -> Duration {
        max(.milliseconds(500), .milliseconds(calls))
    }

    /// Four users, one after the other, some of them with a pause between.
    private func changeUsers(within duration: Duration) async {
        for _ in 0..<4 {
            try? await simulation.clock.sleep(for: duration / 4 * simulation.random.nextFraction())
            if simulation.random.nextFraction() < 0.5 {
                coordinator.signOut()
                try? await simulation.clock.sleep(for: .milliseconds(50))
            }
            coordinator.signIn(server.signIn())
        }
    }

    /// One call that starts at its moment and, when it has a patience, is cancelled after it.
    private func call(_ request: Ping, start: Duration, patience: Duration?) async {
        try? await simulation.clock.sleep(for: start)
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                do throws(HttpError) {
                    return try await request.response(with: service).body
                } catch {
                    return error.kind == .cancelled ? "cancelled" : "\(error.kind)"
                }
            }
            if let patience {
                group.addTask {
                    try? await simulation.clock.sleep(for: patience)
                    return nil
                }
            }
            let first = await group.next() ?? nil
            let impatient = simulation.clock.now
            group.cancelAll()
            let second = patience == nil ? nil : await group.next() ?? nil
            let outcome = first ?? second ?? "lost"
            outcomes.withLock { $0[outcome, default: 0] += 1 }
            // A cancelled call ends at once: no time passes between the cancellation and the end.
            server.expect(simulation.clock.now == impatient, "a cancelled call took its time")
        }
    }

    /// The contradictions to the invariants; empty when there are none.
    func findings() -> [String] {
        let outcomes = outcomes.withLock { $0 }
        let known: Set = ["ok", "cancelled", "not authorized", "status 503", "status 429", "status 401"]
        for (outcome, _) in outcomes where !known.contains(outcome) && !outcome.contains("(URLError ") {
            server.expect(false, "an outcome that nothing explains: \(outcome)")
        }
        server.expect(transport.inFlightCount == 0, "an exchange was left behind")
        if !hasUsers {
            server.expect(server.rotations <= server.revocations, "more rotations than revocations")
            // A storm of less than some seconds may end within the cool-down after a failed refresh.
            let (ok, all) = (outcomes["ok", default: 0], outcomes.values.reduce(0, +))
            server.expect(all < 5000 || ok > all / 2, "only \(ok) of \(all) calls succeeded")
        }
        checkSends()
        return server.complaints
    }

    /// Once a newer token has been sent, an older one is never put on a request again.
    private func checkSends() {
        var newest = 0
        for attempt in transport.attempts {
            let number = (attempt.header[.authorization]?.dropFirst("Bearer token-".count)).flatMap { Int($0) } ?? 0
            server.expect(number >= newest, "token \(number) was sent after \(newest)")
            newest = max(newest, number)
            server.expect(attempt.context.number <= 5, "attempt \(attempt.context.number) of one call")
        }
    }
}
