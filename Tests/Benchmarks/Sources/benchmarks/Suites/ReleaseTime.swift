import Foundation
import Nautilus

/// The processor time from the end of one refresh until all calls that waited for it have gone on.
struct ReleaseTime: Measurable {
    let group = CoordinatorSuite.group
    let count: Int

    var name: String { "release of \(count) waiters, processor time" }

    func lines(_ effort: Effort) async throws -> [Line] {
        var (values, references): ([Double], [Double]) = ([], [])
        for _ in 0..<effort.rounds {
            references.append(try await taskValue().nanoseconds)
            values.append(try await coordinator().nanoseconds)
        }
        return [Line(group: group, name: name, unit: "ns", values, against: references, baseline: "await of one Task")]
    }

    private func coordinator() async throws -> Duration {
        let start = Start(count)
        let coordinator = RefreshCoordinator(credential: "old") { _ in
            await start.whenAllWait()
            return "new"
        }
        guard let old = coordinator.current else { return .zero }
        return try await time(from: start) { _ = try await coordinator.refresh(rejecting: old) }
    }

    private func taskValue() async throws -> Duration {
        let start = Start(count)
        let task = Task {
            await start.whenAllWait()
            return "new"
        }
        return try await time(from: start) { _ = await task.value }
    }

    private func time(from start: Start, _ wait: @escaping @Sendable () async throws -> Void) async throws -> Duration {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    start.arrive()
                    try await wait()
                }
            }
            try await group.waitForAll()
        }
        return start.sinceRelease
    }
}

/// Holds back the end of a refresh until everybody waits for it.
private final class Start: @unchecked Sendable {
    // Unchecked: both variables are only touched under the lock.
    private let lock = NSLock()
    private var missing: Int
    private var release = Duration.zero

    init(_ count: Int) {
        missing = count
    }

    func arrive() {
        lock.withLock { missing -= 1 }
    }

    func whenAllWait() async {
        while lock.withLock({ missing > 0 }) { await Task.yield() }
        // The task that arrived last may still be on the way from here to its wait.
        for _ in 0..<100 { await Task.yield() }
        lock.withLock { release = ProcessUsage.cpuTime }
    }

    var sinceRelease: Duration {
        ProcessUsage.cpuTime - lock.withLock { release }
    }
}
