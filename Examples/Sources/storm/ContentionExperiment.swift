import Foundation
import Nautilus
import NautilusFleets

/// How many writes some clients made with a schedule, until all had succeeded.
struct ContentionResult: Encodable, Sendable {
    let schedule: String
    let clients: Int
    let trials: Int
    let seed: UInt64
    /// On average, as `milliseconds`, which they took.
    let writes: Double
    let milliseconds: Double
}

/// Clients that change one row at once, each with the version that it has read.
@available(macOS 15, *)
struct ContentionExperiment: Sendable {
    let trials: Int
    let seed: UInt64

    /// All schedules with each number of clients, as many at once as there are processors.
    func results(sizes: [Int]) async throws -> [ContentionResult] {
        var rest = sizes.flatMap { size in ContentionSchedule.allCases.map { (schedule: $0, size: size) } }[...]
        let order = rest
        return try await withThrowingTaskGroup(of: ContentionResult.self) { group in
            for next in rest.prefix(ProcessInfo.processInfo.activeProcessorCount) {
                group.addTask { try await result(of: next.schedule, clients: next.size) }
            }
            rest = rest.dropFirst(ProcessInfo.processInfo.activeProcessorCount)
            var results: [ContentionResult] = []
            for try await result in group {
                results.append(result)
                guard let next = rest.popFirst() else { continue }
                group.addTask { try await self.result(of: next.schedule, clients: next.size) }
            }
            return order.compactMap { item in
                results.first { $0.schedule == item.schedule.rawValue && $0.clients == item.size }
            }
        }
    }

    private func result(of schedule: ContentionSchedule, clients: Int) async throws -> ContentionResult {
        var (writes, time) = (0, Duration.zero)
        for trial in 0..<trials {
            let report = try await report(on: schedule, clients: clients, seed: seed &+ UInt64(trial))
            // Each try is a read and a write.
            writes += report.sends / 2
            time += report.end
        }
        return ContentionResult(
            schedule: schedule.rawValue,
            clients: clients,
            trials: trials,
            seed: seed,
            writes: Double(writes) / Double(trials),
            milliseconds: time / .milliseconds(1) / Double(trials)
        )
    }

    private func report(on schedule: ContentionSchedule, clients: Int, seed: UInt64) async throws -> FleetReport {
        let fleet = FleetSimulation(
            clients: clients,
            load: .atOnce,
            server: FleetServer(
                hop: .normal(mean: .milliseconds(10), deviation: .milliseconds(2)),
                hasVersions: true
            ),
            seed: seed
        )
        return try await fleet.run(schedule.rawValue) { client in
            AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [ReadThenWrite()],
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = schedule.backoff
                        $0.maxAttempts = .max
                        $0.condition = .standard.retrying(status: 412, because: "another client was faster")
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

/// Reads the row, and writes it if it is still the same.
private struct ReadThenWrite: NetworkInterceptor {
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var (read, write) = (request, request)
        read.method = .get
        write.header["If-Match"] = try await next(read).header["ETag"]
        return try await next(write)
    }
}

private struct PutRow {}
extension PutRow: Request {
    typealias Result = Void
    var method: HttpMethod { .put }
    var route: HttpRoute { ["row"] }
    var timeout: Duration? { nil }
}
