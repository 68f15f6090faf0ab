import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("A storm keeps the invariants")
struct StormTests {
    /// How many calls in how many interleavings. Ten million calls take half an hour of an optimised build, so the
    /// whole storm is asked for:
    /// `NAUTILUS_STORM=10000x1000 swift test -c release -Xswiftc -enable-testing --filter StormTests`.
    static let asked: (calls: Int, seeds: Int)? = {
        let asked = ProcessInfo.processInfo.environment["NAUTILUS_STORM"]?.split(separator: "x").compactMap { Int($0) }
        return asked.flatMap { $0.count == 2 ? ($0[0], $0[1]) : nil }
    }()

    @Test("B23: no invariant breaks in a thousand interleavings of random failures, revocations and cancellations")
    func manySeeds() async throws {
        let (calls, seeds) = Self.asked ?? (20, 1000)
        // Two at a time: each simulation keeps one core busy.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...UInt64(seeds) {
                if seed > 2 { try await group.next() }
                group.addTask { try await Self.storm(calls: calls, seed: seed) }
            }
            try await group.waitForAll()
        }
    }

    @Test("B23: no invariant breaks among ten thousand calls")
    func manyCalls() async throws {
        try await Self.storm(calls: 10_000, seed: 23)
    }

    private static func storm(calls: Int, seed: UInt64) async throws {
        let findings = try await simulate(seed: seed) { simulation in
            let storm = Storm(simulation, calls: calls)
            await storm.run(calls: calls)
            return storm.findings()
        }
        #expect(findings.isEmpty, "seed \(seed): \(findings)")
    }
}

/// One service and one rotating server in bad weather; the server keeps the books.
private struct Storm: Sendable {
    private struct Books: Sendable {
        var live: Set<Int> = [1]
        var lastIssued = 1
        /// The refresh tokens that have been spent: none may be spent twice.
        var spent: Set<Int> = []
        var refreshesInFlight = 0
        var refreshes = 0
        var revocations = 0
        var complaints: [String] = []
        var outcomes: [String: Int] = [:]

        mutating func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
            if !condition, complaints.count < 5 { complaints.append(complaint()) }
        }
    }

    private struct Unreachable: Error {}

    private let simulation: Simulated
    private let books: Locked<Books>
    private let coordinator: RefreshCoordinator<Token>
    private let transport: ScriptedTransport
    private let service: AnyHttpService<HttpError>

    /// - Parameter calls: How many there will be: the server revokes its token about four times.
    init(_ simulation: Simulated, calls: Int) {
        let books = Locked(Books())
        let (clock, random) = (simulation.clock, simulation.random)
        let coordinator = RefreshCoordinator(
            credential: Token(number: 1),
            limits: RefreshLimits(maxStarts: 1_000_000),
            clock: clock,
            random: random
        ) { token in
            try await Self.refresh(token, books, simulation)
        }
        let transport = ScriptedTransport(clock: clock) { request, _ in
            Self.answer(request, revoking: 4 / Double(calls), books, random)
        }
        self.simulation = simulation
        self.books = books
        self.coordinator = coordinator
        self.transport = transport
        self.service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: ComposedRetrier.factory(
                AuthorizationRetrier.factory(coordinator),
                BackoffRetrier.factory(
                    backoff: .exponential(base: .milliseconds(50), cap: .seconds(1)),
                    gate: coordinator,
                    random: random
                )
            ),
            transport: transport,
            clock: clock
        )
    }

    /// Rotates: every token is spent at most once, and the service never refreshes twice at a time.
    private static func refresh(_ token: Token, _ books: Locked<Books>, _ simulation: Simulated) async throws -> Token {
        books.withLock { books in
            books.refreshes += 1
            books.refreshesInFlight += 1
            books.expect(books.refreshesInFlight == 1, "two refreshes at a time")
            books.expect(!books.spent.contains(token.number), "token \(token.number) was spent twice")
        }
        defer { books.withLock { $0.refreshesInFlight -= 1 } }
        try await simulation.clock.sleep(for: .milliseconds(20) + .milliseconds(200) * simulation.random.nextFraction())
        // One in five never reaches the server, which has rotated nothing then.
        guard simulation.random.nextFraction() >= 0.2 else { throw Unreachable() }
        return books.withLock { books in
            books.spent.insert(token.number)
            books.lastIssued += 1
            books.live = [books.lastIssued]
            return Token(number: books.lastIssued)
        }
    }

    private static func answer(
        _ request: HttpRequest,
        revoking revocation: Double,
        _ books: Locked<Books>,
        _ random: SeededRandomSource
    ) -> ScriptedReply {
        let latency = Duration.milliseconds(1) + .milliseconds(100) * random.nextFraction()
        let (draw, isRevoked) = (random.nextFraction(), random.nextFraction() < revocation)
        let carried = request.header[.authorization]
        let isLive = books.withLock { books in
            // The server revokes now and then, in the middle of everything.
            if isRevoked, !books.live.isEmpty {
                books.live = []
                books.revocations += 1
            }
            return books.live.contains { carried == "Bearer token-\($0)" }
        }
        guard isLive else { return .delay(latency, then: .status(401)) }
        switch draw {
        case ..<0.1: return .delay(latency, then: .status(503))
        case ..<0.15: return .delay(latency, then: .fail(.networkConnectionLost))
        case ..<0.17: return .delay(latency, then: .status(429, header: ["Retry-After": "1"]))
        default: return .delay(latency, then: .reply(text: "ok"))
        }
    }

    /// A storm in bunches: a task group takes longer to lose a child the more it has.
    func run(calls: Int) async {
        let bunch = 100
        await withTaskGroup(of: Void.self) { group in
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
        // A thousand calls a second; few calls still spread over a few exchanges.
        let start = max(.milliseconds(500), .milliseconds(calls)) * random.nextFraction()
        let patience = random.nextFraction() < 0.2 ? Duration.milliseconds(300) * random.nextFraction() : nil
        await call(index % 3 == 0 ? .keyedPost : .get, start: start, patience: patience)
    }

    /// One call that starts at its moment and, when it has a patience, is cancelled after it.
    private func call(_ request: Call, start: Duration, patience: Duration?) async {
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
            books.withLock { books in
                books.outcomes[outcome, default: 0] += 1
                // A cancelled call ends at once: no time passes between the cancellation and the end.
                books.expect(simulation.clock.now == impatient, "a cancelled call took its time")
            }
        }
    }

    /// What contradicts the invariants; empty when nothing does.
    func findings() -> [String] {
        books.withLock { books in
            let known: Set = ["ok", "cancelled", "not authorized", "status 503", "status 429", "status 401"]
            for (outcome, _) in books.outcomes where !known.contains(outcome) && !outcome.hasPrefix("network failure") {
                books.expect(false, "an outcome that nothing explains: \(outcome)")
            }
            books.expect(transport.inFlightCount == 0, "an exchange was left behind")
            books.expect(books.refreshesInFlight <= 1, "refreshes were left behind")
            books.expect(books.spent.count <= books.revocations, "more rotations than revocations")
            // Few calls may all meet a revocation and the cool-down after a failed refresh.
            let (ok, all) = (books.outcomes["ok", default: 0], books.outcomes.values.reduce(0, +))
            books.expect(all < 100 || ok > all / 2, "only \(ok) of \(all) calls succeeded")
            return books.complaints + sendFindings()
        }
    }

    /// Once a newer token has been sent, an older one is never stamped again.
    private func sendFindings() -> [String] {
        var newest = 0
        for attempt in transport.attempts {
            guard let text = attempt.header[.authorization]?.dropFirst("Bearer token-".count), let number = Int(text)
            else {
                return ["an attempt without a token"]
            }
            if number < newest { return ["token \(number) was sent after \(newest)"] }
            newest = number
            if attempt.context.number > 5 { return ["attempt \(attempt.context.number) of one call"] }
        }
        return []
    }
}
