import Foundation
import Nautilus
import NautilusFleets
import TestSupport
import Testing

/// The experiment of "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015), with the numbers of its simulator:
/// clients that change one row at once, each with the version that it has read; hops of |N(10, 2)| ms.
@Suite("A fleet that contends for one row")
struct FleetContentionTests {
    /// A schedule, and the writes that a hundred clients make with it until all have succeeded.
    struct Schedule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let backoff: Backoff
        let writes: Double

        static let base = Duration.milliseconds(10)  // the simulator's base is 5 ms, and its first delay twice that
        static let cap = Duration.seconds(2)

        static let all = [
            Schedule(testDescription: "none", backoff: .constant(.zero), writes: 2420),
            exponential("exponential", .none, writes: 1850),
            exponential("equal jitter", .equal, writes: 810),
            exponential("full jitter", .full, writes: 800),
            Schedule(
                testDescription: "decorrelated jitter",
                backoff: .decorrelated(base: .milliseconds(5), cap: cap),
                writes: 1000
            ),
        ]

        private static func exponential(_ name: String, _ jitter: Backoff.Jitter, writes: Double) -> Schedule {
            let backoff = Backoff.exponential(base: base, cap: cap, jitter: jitter)
            return Schedule(testDescription: name, backoff: backoff, writes: writes)
        }
    }

    /// Reads the row, and writes it if it is still the same.
    private struct ReadThenWrite: NetworkInterceptor {
        func intercept(
            _ request: HttpRequest,
            context: AttemptContext,
            next: Next
        ) async throws -> HttpResponse<Data> {
            var (read, write) = (request, request)
            read.method = .get
            write.header["If-Match"] = try await next(read).header["ETag"]
            return try await next(write)
        }
    }

    private struct PutRow: Request {
        typealias Result = Void
        var method: HttpMethod { .put }
        var route: HttpRoute { ["row"] }
        var timeout: Duration? { nil }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("a hundred clients make about as many writes as published", arguments: Schedule.all)
    func writes(schedule: Schedule) async throws {
        var writes = 0
        let rounds = max(2, trials(2))
        for round in 1...rounds {
            let report = try await Self.report(schedule.backoff, clients: 100, seed: UInt64(round))
            #expect(report.succeeded == 100)
            // Each try is a read and a write.
            writes += report.sends / 2
        }
        let mean = Double(writes) / Double(rounds)
        #expect(abs(mean / schedule.writes - 1) < 0.1, "\(mean) writes")
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func report(_ backoff: Backoff, clients: Int, seed: UInt64) async throws -> FleetReport {
        let fleet = FleetSimulation(
            clients: clients,
            load: .atOnce,
            server: FleetServer(
                hop: .normal(mean: .milliseconds(10), deviation: .milliseconds(2)),
                hasVersions: true
            ),
            seed: seed
        )
        let conflicts = RetryCondition.standard.retrying(status: 412, because: "another client was faster")
        return try await fleet.run("p") { client in
            AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [ReadThenWrite()],
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = backoff
                        $0.maxAttempts = .max
                        $0.condition = conflicts
                        $0.budget = .unlimited
                        $0.random = client.random
                    }
                ),
                transport: client.transport,
                clock: client.clock
            ).with { $0.maxAttempts = .max }
        } request: { _ in
            PutRow()
        }
    }
}
