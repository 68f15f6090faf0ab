import NautilusFleets
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

/// 800 calls a second against a server for 1000, which stalls for ten seconds: its queue is two seconds long, and
/// callers wait for one. In a debug build at a tenth of the size, and fewer of them: the course is the same, the noise
/// larger.
@Suite("A fleet after an outage")
struct FleetStormTests {
    #if DEBUG
        private static let scale = 1
        private static let recovery = Duration.seconds(8)
        private static let outages: [FleetOutage.Kind] = [.unreachable]
    #else
        private static let scale = 10
        private static let recovery = Duration.seconds(5)
        private static let outages: [FleetOutage.Kind] = [
            .unreachable, .failing(status: 503, share: 1), .slowed(to: 0.5),
        ]
    #endif

    private struct GetNote: Request {
        typealias Result = Void
        let id: Int
        var route: HttpRoute { ["notes", id] }
        var timeout: Duration? { .seconds(1) }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func report(
        on outage: FleetOutage.Kind = .stalled,
        _ factory: @escaping @Sendable (FleetClient) -> any RetrierFactory
    ) async throws -> FleetReport {
        let fleet = FleetSimulation(
            clients: 10 * scale,
            load: .poisson(callsPerSecond: 80 * Double(scale), for: .seconds(60)),
            server: FleetServer(
                workers: scale,
                serviceTime: .constant(.milliseconds(10)),
                queueLimit: 200 * scale,
                outages: [FleetOutage(outage, from: .seconds(10), for: .seconds(10))]
            )
        )
        return try await fleet.run("p") { client in
            AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: factory(client),
                transport: client.transport,
                clock: client.clock
            )
        } request: { call in
            GetNote(id: call.number)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("without retries the server recovers when it has worked off its queue")
    func none() async throws {
        let report = try await Self.report { _ in .never }
        #expect(report.sends == report.calls)
        #expect(report.recovery == Self.recovery)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("retries that nothing bounds keep the server down, jitter or not", arguments: [true, false])
    func unbounded(hasDelays: Bool) async throws {
        let report = try await Self.report { client in
            let backoff = hasDelays ? Backoff.exponential(jitter: .full) : .constant(.zero)
            return BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = backoff
                    $0.budget = .unlimited
                    $0.random = client.random
                }
            )
        }
        #expect(report.recovery == nil)
        #expect(report.amplification > 3)
        // Not one call of the half minute after the outage succeeds.
        #expect(report.seconds[20..<50].allSatisfy { $0.succeeded == 0 })
        #expect(report.seconds[20..<50].allSatisfy { $0.kept == 0 })
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a fleet recovers from every kind of outage with a budget, and not without", arguments: outages)
    func kinds(outage: FleetOutage.Kind) async throws {
        let unbounded = try await Self.report(on: outage) { client in
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.random = client.random
                }
            )
        }
        #expect(unbounded.recovery == nil)
        #expect(unbounded.amplification > 3)
        let bounded = try await Self.report(on: outage) { client in
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(TokenBucketBudget())
                    $0.random = client.random
                }
            )
        }
        #expect(bounded.recovery != nil)
        #expect(bounded.amplification < 1.1)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a fleet with token buckets recovers, and each client adds six retries and a fifth at most")
    func tokenBucket() async throws {
        let report = try await Self.report { client in
            BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(TokenBucketBudget())
                    $0.random = client.random
                }
            )
        }
        #expect(report.recovery == Self.recovery)
        #expect(report.amplification < 1.1)
        // The bucket is full with ten tokens, and a retry needs more than five: the sixth is one of the successes'.
        Self.expectRetries(of: report, within: 0.2, plus: 6 * report.clients)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(
        "a server that is well and loses one request in five costs not one call in a hundred that retries save",
        arguments: [1, 10]
    )
    func transientFaults(callsPerSecondOfEach: Double) async throws {
        let fleet = FleetSimulation(
            clients: 4,
            load: .poisson(callsPerSecond: 4 * callsPerSecondOfEach, for: .seconds(60)),
            server: FleetServer(hop: .exponential(mean: .milliseconds(30)), failureRate: 0.2)
        )
        func report(_ budget: @escaping @Sendable () -> RetryBudgetScope) async throws -> FleetReport {
            try await fleet.run("p") { client in
                AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: BackoffRetrier.factory(
                        .standard.with {
                            $0.budget = budget()
                            $0.random = client.random
                        }
                    ),
                    transport: client.transport,
                    clock: client.clock
                )
            } request: { call in
                GetNote(id: call.number)
            }
        }
        let saved = try await report { .unlimited }.succeeded
        let bounded = try await report { .shared(TokenBucketBudget()) }
        #expect(saved - bounded.succeeded < bounded.calls / 100)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(
        "of 200 mixed calls at a server that fails one request in five the default budget ends not one in a hundred",
        arguments: [1, 8, 64, 200]
    )
    func mixedCalls(atOnce: Int) async throws {
        struct Mixed: Request {
            typealias Result = Void
            let number: Int
            var route: HttpRoute { [] }
            var method: HttpMethod { number % 3 == 0 ? .get : .post }
            var header: HttpHeader { number % 3 == 1 ? [.idempotencyKey: "\(number)"] : [:] }
        }
        let (ended, unsafe) = (Locked(0), Locked(0))
        for seed in 1...10 {
            let fleet = FleetSimulation(
                clients: atOnce,
                load: .atOnce,
                server: FleetServer(hop: .exponential(mean: .milliseconds(30)), failureRate: 0.2),
                seed: UInt64(seed)
            )
            // What a process has for an origin.
            let budgets = OriginBudgets { _ in TokenBucketBudget() }
            _ = try await fleet.run("p") { client in
                AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: BackoffRetrier.factory(
                        .standard.with {
                            $0.budget = .perOrigin(in: budgets)
                            $0.random = client.random
                        }
                    ),
                    transport: client.transport,
                    clock: client.clock
                )
            } call: { service, call in
                for number in stride(from: call.number, to: 200, by: atOnce) {
                    do throws(HttpError) {
                        try await Mixed(number: number).schedule(with: service)
                    } catch {
                        switch error.trace.attempts.last?.decision?.reason {
                        case .budget: ended.withLock { $0 += 1 }
                        case .mayHaveExecuted: unsafe.withLock { $0 += 1 }
                        default: break
                        }
                    }
                }
            }
        }
        #expect(ended.withLock { $0 } < 10 * 200 / 100)
        // A third of the calls are such that no retry may save them.
        #expect((90...180).contains(unsafe.withLock { $0 }))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a fleet with a budget of a tenth recovers, with at most a retry for ten successes")
    func ratio() async throws {
        let report = try await Self.report { client in
            let budget = RatioBudget(ratio: 0.1, minimumRetriesPerSecond: 0, clock: client.clock)
            return BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .shared(budget)
                    $0.random = client.random
                }
            )
        }
        #expect(report.recovery == Self.recovery)
        #expect(report.amplification < 1.1)
        Self.expectRetries(of: report, within: 0.1, plus: 0)
    }

    /// Expects that at the end of no second more than `ratio` of the successes so far, and `allowance`, were retries.
    private static func expectRetries(of report: FleetReport, within ratio: Double, plus allowance: Int) {
        var (retries, successes) = (0, 0)
        for second in report.seconds {
            retries += second.sends - second.begun
            successes += second.succeeded
            #expect(Double(retries) <= ratio * Double(successes) + Double(allowance), "second \(second.number)")
        }
        #expect(retries > 0)
    }
}
