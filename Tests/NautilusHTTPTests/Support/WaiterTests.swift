import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Locked.wait: cancellation and joining find each other", .endsInTime)
struct WaiterTests {
    typealias Line = WaitingLine<Waiter<Int>>

    private func wait(in line: Locked<Line>) async throws -> Int {
        try await line.wait { line, waiter in
            line.append(waiter)
        } joined: { _, _ in
        } leave: { line, id in
            line.remove(id)
        }
    }

    @Test("a waiter goes on with what it is resumed with")
    func resumed() async throws {
        struct Refused: Error, Equatable {}
        let line = Locked(Line())
        let first = Task { try await wait(in: line) }
        while line.withLock({ $0.count }) < 1 { await Task.yield() }
        let second = Task { try await wait(in: line) }
        while line.withLock({ $0.count }) < 2 { await Task.yield() }
        line.withLock { $0.popFirst() }?.resume(returning: 7)
        line.withLock { $0.popFirst() }?.resume(throwing: Refused())
        #expect(try await first.value == 7)
        await #expect(throws: Refused()) { try await second.value }
    }

    @Test("a waiter that need not wait is resumed after the lock has been released")
    func atOnce() async throws {
        let line = Locked(Line())
        let value = try await line.wait { line, _ in
            line.count
        } joined: { count, waiter in
            // It would never come back if the lock were held.
            waiter.resume(returning: line.withLock { $0.count } + count + 1)
        } leave: { _, _ in
            nil
        }
        #expect(value == 1)
    }

    @Test("a task that was cancelled before does not join")
    func cancelledBefore() async {
        let (line, joins) = (Locked(Line()), Counter())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await line.wait { line, waiter in
                joins.increment()
                line.append(waiter)
            } joined: { _, _ in
            } leave: { line, id in
                line.remove(id)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect((joins.value, line.withLock { $0.count }) == (0, 0))
    }

    @Test("a thousand waiters that are cancelled while they are served each end once", arguments: 0..<20)
    func races(round: Int) async throws {
        let line = Locked(Line())
        let tasks = (0..<1_000).map { _ in Task { try await wait(in: line) } }
        let served = Task {
            var count = 0
            while count < 300 {
                guard let waiter = line.withLock({ $0.popFirst() }) else {
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
        #expect(line.withLock { $0.count } == 0)
    }

    @Test("a waiter that is cancelled while it waits leaves the line at once")
    func cancelledWaiting() async {
        let line = Locked(Line())
        let task = Task { try await wait(in: line) }
        while line.withLock({ $0.count }) < 1 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(line.withLock { $0.count } == 0)
    }
}
