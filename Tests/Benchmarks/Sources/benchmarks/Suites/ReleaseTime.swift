import Foundation
import Nautilus

/// The processor time from the end of one refresh until all calls that waited for it have gone on: beside that of tasks
/// which wait for one task, and beside the least that the runtime takes to wake so many.
struct ReleaseTime: Measurable {
    let group = CoordinatorSuite.group
    let count: Int

    var name: String { "release of \(count) waiters, processor time" }

    func lines(_ effort: Effort) async throws -> [Line] {
        var (values, tasks, floors): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<effort.rounds {
            tasks.append(try await taskValue().nanoseconds)
            values.append(try await coordinator().nanoseconds)
            floors.append(try await continuations().nanoseconds)
        }
        return [
            Line(group: group, name: name, unit: "ns", values, against: tasks, baseline: "await of one Task"),
            Line(group: group, name: name, unit: "ns", values, against: floors, baseline: "unsafe continuations"),
        ]
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

    /// Tasks that cannot be cancelled and throw nothing, resumed one after the other.
    private func continuations() async throws -> Duration {
        let start = Start(count)
        let waiting = Continuations()
        let resuming = Task { [count] in
            while waiting.count < count { await Task.yield() }
            await start.whenAllWait()
            waiting.resumeAll()
        }
        let time = try await time(from: start) { await waiting.wait() }
        await resuming.value
        return time
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

/// Tasks that wait.
private final class Continuations: @unchecked Sendable {
    // Unchecked: the list is only touched under the lock.
    private let lock = NSLock()
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    var count: Int { lock.withLock { waiting.count } }

    func wait() async {
        await withUnsafeContinuation { continuation in lock.withLock { waiting.append(continuation) } }
    }

    func resumeAll() {
        let all = lock.withLock { waiting }
        for continuation in all { continuation.resume() }
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
