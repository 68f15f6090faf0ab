import Nautilus
import NautilusFleets
import NautilusTesting
import TestSupport
import Testing

@Suite("The simulation of a fleet")
struct FleetSimulationTests {
    /// A call whose timeout is the case's own.
    private struct Poll: Request {
        typealias Result = Void
        var timeout: Duration?
        var route: HttpRoute { [] }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func service(
        _ client: FleetClient,
        _ retrierFactory: any RetrierFactory = .never
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: retrierFactory,
            transport: client.transport,
            clock: client.clock
        )
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a request whose caller has hung up still costs the server its time")
    func abandoned() async throws {
        let fleet = FleetSimulation(
            clients: 1,
            load: .even(callsPerSecond: 10, for: .milliseconds(200)),
            server: FleetServer(workers: 1, serviceTime: .constant(.milliseconds(150)))
        )
        let report = try await fleet.run("impatient") {
            Self.service($0)
        } request: { call in
            Poll(timeout: call.number == 0 ? .milliseconds(50) : .seconds(1))
        }
        // The second call comes at 100 ms, and is served from 150 ms to 300 ms.
        #expect(report.p50 == .milliseconds(200))
        #expect(report.seconds.count == 1)
        let second = report.seconds[0]
        #expect((second.begun, second.sends, second.succeeded, second.failed) == (2, 2, 1, 1))
        #expect((second.abandoned, second.refused, second.kept) == (1, 0, 1))
        #expect(report.end == .milliseconds(300))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a hop takes its time there and back")
    func hops() async throws {
        let fleet = FleetSimulation(
            clients: 1,
            load: .atOnce,
            server: FleetServer(
                serviceTime: .constant(.milliseconds(10)),
                hop: .constant(.milliseconds(3))
            )
        )
        let report = try await fleet.run("one") {
            Self.service($0)
        } request: { _ in
            Poll()
        }
        #expect(report.end == .milliseconds(16))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("the service's own retrier honours the Retry-After of the server's limiter")
    func limiter() async throws {
        let fleet = FleetSimulation(
            clients: 2,
            load: .atOnce,
            server: FleetServer(rateLimit: FleetRateLimit(perSecond: 1))
        )
        let report = try await fleet.run("backoff") {
            Self.service(
                $0,
                BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .unlimited
                        $0.random = FixedRandomSource(0.5)
                    }
                )
            )
        } request: { _ in
            Poll()
        }
        #expect((report.calls, report.succeeded, report.sends) == (2, 2, 3))
        #expect(report.seconds[0].refused == 1)
        // Not before the server has said, and drawn in as much time again.
        #expect(report.end == .milliseconds(1500))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("the same seed gives the same fleet report, byte by byte", arguments: [1, 2, 3] as [UInt64])
    func seeds(seed: UInt64) async throws {
        let (first, second) = (try await Self.busyFleet(seed: seed), try await Self.busyFleet(seed: seed))
        #expect(first == second)
        #expect(first.csv == second.csv)
        let pages = [first, second].map { FleetComparison([$0]).html(title: "Fleet") }
        #expect(pages[0] == pages[1])
        let other = try await Self.busyFleet(seed: seed + 1)
        #expect(first.csv != other.csv)
    }

    /// All that is random, at once: arrivals, hops, service, faults, jitter, time limits.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func busyFleet(seed: UInt64) async throws -> FleetReport {
        let fleet = FleetSimulation(
            clients: 7,
            load: .poisson(callsPerSecond: 60, for: .seconds(5)),
            server: FleetServer(
                workers: 2,
                serviceTime: .exponential(mean: .milliseconds(30)),
                queueLimit: 20,
                hop: .normal(mean: .milliseconds(10), deviation: .milliseconds(2)),
                outages: [FleetOutage(.slowed(to: 0.3), from: .seconds(1), for: .seconds(2))],
                failureRate: 0.05
            ),
            seed: seed
        )
        return try await fleet.run("busy") { client in
            service(
                client,
                BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .unlimited
                        $0.random = client.random
                    }
                )
            )
        } request: { _ in
            Poll(timeout: .milliseconds(200))
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("calls begin at the same times, by the same clients, whatever the policy")
    func sameCalls() async throws {
        let fleet = FleetSimulation(
            clients: 5,
            load: .poisson(callsPerSecond: 20, for: .seconds(3)),
            server: FleetServer(failureRate: 0.5)
        )
        let logs = [Locked<[FleetCall]>([]), Locked<[FleetCall]>([])]
        for (log, factory) in zip(logs, [.never, BackoffRetrier.factory()]) {
            _ = try await fleet.run("p") {
                Self.service($0, factory)
            } call: { service, call in
                log.withLock { $0.append(call) }
                try await Poll().schedule(with: service)
            }
        }
        let calls = logs.map { log in log.withLock { $0.sorted { $0.number < $1.number } } }
        #expect(calls[0] == calls[1])
        #expect(calls[0].count > 40)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("each client has a service and a randomness of its own")
    func clients() async throws {
        let draws = Locked<[Int: Double]>([:])
        let fleet = FleetSimulation(clients: 20, load: .atOnce, server: FleetServer())
        _ = try await fleet.run("p") { client in
            draws.withLock { $0[client.number] = client.random.nextFraction() }
            return Self.service(client)
        } request: { _ in
            Poll()
        }
        let drawn = draws.withLock { $0 }
        #expect(drawn.keys.sorted() == Array(0..<20))
        #expect(Set(drawn.values).count == 20)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a call may be several requests, and fails with any of them")
    func severalRequests() async throws {
        let fleet = FleetSimulation(
            clients: 1,
            load: .even(callsPerSecond: 10, for: .seconds(1)),
            server: FleetServer(respond: { HttpResponse(status: $0.method == .get ? 200 : 404, body: .init()) })
        )
        let report = try await fleet.run("p") {
            Self.service($0)
        } call: { service, call in
            try await Poll().schedule(with: service)
            if call.number < 3 { try await Delete().schedule(with: service) }
        }
        #expect((report.calls, report.sends, report.succeeded) == (10, 13, 7))
    }

    private struct Delete: Request {
        typealias Result = Void
        var route: HttpRoute { [] }
        var method: HttpMethod { .delete }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("each second of the load is told once, in order, with what happened in it")
    func progress() async throws {
        let told = Locked<[FleetSecond]>([])
        let fleet = FleetSimulation(
            clients: 1,
            load: .even(callsPerSecond: 2, for: .milliseconds(2500)),
            server: FleetServer()
        )
        let report = try await fleet.run("p", onSecond: { second in told.withLock { $0.append(second) } }) {
            Self.service($0)
        } request: { _ in
            Poll()
        }
        #expect(told.withLock { $0.map(\.number) } == [0, 1, 2])
        #expect(told.withLock { $0.map(\.succeeded) } == [2, 2, 1])
        #expect(report.seconds == told.withLock { $0 })
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("calls that never end are cancelled after the overtime, and have failed")
    func overtime() async throws {
        let fleet = FleetSimulation(
            clients: 2,
            load: .even(callsPerSecond: 1, for: .seconds(3)),
            server: FleetServer(
                workers: 2,
                serviceTime: .constant(.milliseconds(10)),
                outages: [FleetOutage(.stalled, from: .seconds(1), for: .seconds(3600))]
            ),
            overtime: .seconds(7)
        )
        let report = try await fleet.run("p") {
            Self.service($0)
        } request: { _ in
            Poll()
        }
        #expect(report.end == .seconds(10))
        #expect((report.calls, report.succeeded) == (3, 1))
        #expect((report.seconds[10].failed, report.seconds[10].abandoned) == (2, 2))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a fleet throws the error of the closure that makes its services")
    func noService() async {
        struct Odd: Error {}
        let fleet = FleetSimulation(clients: 2, load: .atOnce, server: FleetServer())
        await #expect(throws: Odd.self) {
            try await fleet.run("p") { client in
                if client.number == 1 { throw Odd() }
                return Self.service(client)
            } request: { _ in
                Poll()
            }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("cancelling the caller ends the simulation")
    func cancellation() async {
        let fleet = FleetSimulation(
            clients: 2,
            load: .even(callsPerSecond: 10, for: .seconds(3600)),
            server: FleetServer()
        )
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fleet.run("p") {
                Self.service($0)
            } request: { _ in
                Poll()
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }
}
