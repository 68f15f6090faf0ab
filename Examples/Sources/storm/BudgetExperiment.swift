import Foundation
import Nautilus
import NautilusFleets
import Synchronization

/// A bucket of tokens on a good day and in an outage.
@available(macOS 15, *)
struct BudgetExperiment: Sendable {
    let trials: Int
    let seed: UInt64

    /// A row of the table.
    func row(_ bucket: Bucket) async throws -> String {
        async let lost = shares(bucket)
        async let many = amplification(bucket, clients: 100)
        async let small = amplification(bucket, clients: 1000)
        let shares = try await lost.map { String(format: "%.1f %%", 100 * $0) }
        let sends = [try await many, try await small].map { String(format: "%.2f", $0) }
        return "| \((["\(bucket.capacity), \(bucket.deposit)"] + shares + sends).joined(separator: " | ")) |"
    }

    private func shares(_ bucket: Bucket) async throws -> [Double] {
        var shares: [Double] = []
        for size in [1, 8, 64, 200] { shares.append(try await lost(bucket, atOnce: size, isMixed: true)) }
        return shares + [try await lost(bucket, atOnce: 200, isMixed: false)]
    }

    /// The share of the calls that the budget has ended. All share one bucket, as the calls of one app do.
    private func lost(_ bucket: Bucket, atOnce: Int, isMixed: Bool) async throws -> Double {
        let ended = EndedByBudget()
        for trial in 0..<trials {
            let fleet = FleetSimulation(
                clients: atOnce,
                load: .atOnce,
                server: FleetServer(hop: .exponential(mean: .milliseconds(30)), failureRate: 0.2),
                seed: seed &+ UInt64(trial)
            )
            let budget = bucket.budget
            _ = try await fleet.run("bucket") { client in
                AnyHttpService(NotesService(client, retrierFactory: Self.factory(budget, client)))
                    .with { $0.observer = ended }
            } call: { service, call in
                for number in stride(from: call.number, to: 200, by: atOnce) {
                    _ = try? await MixedCall(kind: isMixed ? number % 3 : 0).schedule(with: service)
                }
            }
        }
        return Double(ended.count) / Double(200 * trials)
    }

    /// The sends per call of clients that make 800 calls a second together, and meet an outage of ten seconds.
    private func amplification(_ bucket: Bucket, clients: Int) async throws -> Double {
        let fleet = FleetSimulation(
            clients: clients,
            load: .poisson(callsPerSecond: 800, for: .seconds(60)),
            server: .withOutage(.stalled, capacity: 1000),
            seed: seed
        )
        return try await fleet.run("bucket") { client in
            NotesService(client, retrierFactory: Self.factory(bucket.budget, client))
        } request: { call in
            GetNote(id: call.number)
        }.amplification
    }

    private static func factory(_ budget: TokenBucketBudget, _ client: FleetClient) -> any RetrierFactory {
        BackoffRetrier.factory(
            .standard.with {
                $0.budget = .shared(budget)
                $0.random = client.random
            }
        )
    }
}

extension Bucket {
    fileprivate var budget: TokenBucketBudget { TokenBucketBudget(capacity: capacity, depositOfSuccess: deposit) }
}

/// Counts the calls that would have gone on if the budget had allowed it.
@available(macOS 15, *)
private final class EndedByBudget: CallObserver {
    private let ended = Mutex(0)

    var count: Int { ended.withLock { $0 } }

    func observe(_ event: CallEvent) {
        guard case .callEnded(_, let trace) = event, trace.attempts.last?.decision?.reason == .budget else { return }
        ended.withLock { $0 += 1 }
    }
}

/// A GET, a POST that the server knows by its key, or one that must not be repeated.
private struct MixedCall {
    let kind: Int
    let key = UUID().uuidString
}
extension MixedCall: Request {
    typealias Result = Void
    var method: HttpMethod { kind == 0 ? .get : .post }
    var route: HttpRoute { ["notes"] }
    var header: HttpHeader { kind == 1 ? [.idempotencyKey: key] : [:] }
}
