import Foundation
import Nautilus
import NautilusTraffic

/// The processor time of a crowd that comes, waits, and is cancelled all at once, against one that sleeps instead.
///
/// The goal is 50 ms for ten thousand beyond the baseline, since the tasks alone may cost more than that: far from the minutes
/// that it takes when each task that leaves looks for itself among all.
struct CrowdTime: Measurable {
    static let all: [any Measurable] = [
        CrowdTime("concurrency limit") { count in
            let limit = ConcurrencyLimit(1, maxWaiting: count)
            return try Crowd(in: { limit.waitingCount(for: $0) }) { request, context in
                try await limit.intercept(
                    request,
                    context: context,
                    next: AttemptContext.Next { _ in try await sleepForLong() }
                )
            }
        },
        CrowdTime("pacing") { count in
            let pacing = Pacing(maxWaiting: count, maxWait: .seconds(1_000_000))
            let crowd = try Crowd(in: { pacing.waitingCount(for: $0) }) { request, context in
                try await pacing.intercept(
                    request,
                    context: context,
                    next: AttemptContext.Next { _ in try await sleepForLong() }
                )
            }
            // The server wants to be left alone for longer than the crowd waits.
            let refusal = AttemptContext.Next { request in
                HttpResponse(status: 429, header: ["Retry-After": "1000"], body: Data(), url: request.url)
            }
            _ = try await pacing.intercept(crowd.request, context: crowd.context, next: refusal)
            return crowd
        },
        CrowdTime("coordinator") { count in
            let (arrivals, coordinator) = (
                Arrivals(), RefreshCoordinator(credential: "old") { _ in try await sleepForLong() }
            )
            return try Crowd(in: { _ in arrivals.count }) { request, _ in
                arrivals.add()
                if let old = coordinator.current { _ = try await coordinator.refresh(rejecting: old) }
                return HttpResponse(status: 200, header: [:], body: Data(), url: request.url)
            }
        },
    ]

    let group = "A crowd that waits and is cancelled"
    let name: String
    private let count = 10_000
    private let makeCrowd: @Sendable (Int) async throws -> Crowd

    private init(_ holder: String, _ makeCrowd: @escaping @Sendable (Int) async throws -> Crowd) {
        self.name = "\(holder), 10 000 joined and cancelled, processor time"
        self.makeCrowd = makeCrowd
    }

    func lines(_ effort: Effort) async throws -> [Line] {
        var (values, references): ([Double], [Double]) = ([], [])
        for _ in 0..<effort.rounds {
            references.append(try await sleepingCrowd().time(of: count).nanoseconds)
            values.append(try await makeCrowd(count).time(of: count).nanoseconds)
        }
        return [Line(group: group, name: name, unit: "ns", values, against: references, baseline: "as many who sleep")]
    }

    private func sleepingCrowd() throws -> Crowd {
        let arrivals = Arrivals()
        return try Crowd(in: { _ in arrivals.count }) { _, _ in
            arrivals.add()
            return try await sleepForLong()
        }
    }
}

/// Tasks that do the same until they are cancelled.
private struct Crowd: Sendable {
    typealias Wait = @Sendable (HttpRequest, AttemptContext) async throws -> HttpResponse<Data>

    let request: HttpRequest
    let context: AttemptContext
    private let origin: HttpOrigin
    private let waitingCount: @Sendable (HttpOrigin) -> Int
    private let wait: Wait

    init(in waitingCount: @escaping @Sendable (HttpOrigin) -> Int, _ wait: @escaping Wait) throws {
        guard let url = URL(string: "https://api.example.com"), let origin = HttpOrigin(url) else {
            throw URLError(.badURL)
        }
        (self.request, self.origin, self.context) = (
            HttpRequest(url: url), origin, AttemptContext(serviceOrigin: origin)
        )
        (self.waitingCount, self.wait) = (waitingCount, wait)
    }

    /// The cost from the first that comes to the last that is gone.
    func time(of count: Int) async throws -> Duration {
        let start = ProcessUsage.cpuTime
        let tasks = (0..<count).map { _ in Task { _ = try? await wait(request, context) } }
        // One of them may hold what the others wait for.
        while waitingCount(origin) < count - 1 { try await Task.sleep(for: .milliseconds(1)) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return ProcessUsage.cpuTime - start
    }
}

/// How many have come.
private final class Arrivals: @unchecked Sendable {
    // Unchecked: the count is only touched under the lock.
    private let lock = NSLock()
    private var number = 0

    var count: Int { lock.withLock { number } }
    func add() { lock.withLock { number += 1 } }
}

@Sendable private func sleepForLong<Result>() async throws -> Result {
    try await Task.sleep(for: .seconds(1_000_000))
    throw CancellationError()
}
