import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Locked.wait: cancellation and joining find each other", .endsInTime)
struct WaiterTests {
    typealias Queue = WaitQueue<Waiter<Int>>

    private func wait(in queue: Locked<Queue>) async throws -> Int {
        try await queue.wait { queue, waiter in
            queue.append(waiter)
        } joined: { _, _ in
        } leave: { queue, id in
            queue.remove(id)
        }
    }

    @Test("a waiter goes on with what it is resumed with")
    func resumed() async throws {
        struct Refused: Error, Equatable {}
        let queue = Locked(Queue())
        let first = Task { try await wait(in: queue) }
        while queue.withLock({ $0.count }) < 1 { await Task.yield() }
        let second = Task { try await wait(in: queue) }
        while queue.withLock({ $0.count }) < 2 { await Task.yield() }
        queue.withLock { $0.popFirst() }?.resume(returning: 7)
        queue.withLock { $0.popFirst() }?.resume(throwing: Refused())
        #expect(try await first.value == 7)
        await #expect(throws: Refused()) { try await second.value }
    }

    @Test("a waiter that need not wait is resumed after the lock has been released")
    func atOnce() async throws {
        let queue = Locked(Queue())
        let value = try await queue.wait { queue, _ in
            queue.count
        } joined: { count, waiter in
            // It would never come back if the lock were held.
            waiter.resume(returning: queue.withLock { $0.count } + count + 1)
        } leave: { _, _ in
            nil
        }
        #expect(value == 1)
    }

    @Test("a task that was cancelled before does not join")
    func cancelledBefore() async {
        let (queue, joins) = (Locked(Queue()), Counter())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.wait { queue, waiter in
                joins.increment()
                queue.append(waiter)
            } joined: { _, _ in
            } leave: { queue, id in
                queue.remove(id)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect((joins.value, queue.withLock { $0.count }) == (0, 0))
    }

    @Test("a thousand waiters that are cancelled while they are served each end once", arguments: 0..<20)
    func races(round: Int) async throws {
        let queue = Locked(Queue())
        let tasks = (0..<1_000).map { _ in Task { try await wait(in: queue) } }
        let served = Task {
            var count = 0
            while count < 300 {
                guard let waiter = queue.withLock({ $0.popFirst() }) else {
                    await Task.yield()
                    if Task.isCancelled { break }
                    continue
                }
                waiter.resume(returning: 1)
                count += 1
            }
            return count
        }
        for task in tasks { task.cancel() }
        var successes = 0
        for task in tasks { successes += (try? await task.value) ?? 0 }
        served.cancel()
        #expect(await served.value == successes)
        #expect(queue.withLock { $0.count } == 0)
    }

    @Test("a waiter that is cancelled while it waits leaves the queue at once")
    func cancelledWaiting() async {
        let queue = Locked(Queue())
        let task = Task { try await wait(in: queue) }
        while queue.withLock({ $0.count }) < 1 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.withLock { $0.count } == 0)
    }
}
