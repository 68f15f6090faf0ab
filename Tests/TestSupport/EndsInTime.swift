import Foundation
import Nautilus
import Testing

extension Trait where Self == EndsInTime {
    /// Fails a test that waits for what never comes in seconds, and says which one it is.
    package static var endsInTime: Self { EndsInTime() }
}

/// A limit for tests that wait for others: a waiter that got lost is never resumed, and ignores cancellation, so that
/// `timeLimit` would record its minutes and then wait on.
///
/// On a busy machine every test takes long, so no limit of time would do. A test is stuck when the whole process has done
/// nothing for 15 seconds. It cannot be ended, so the process is, as by a crash.
package struct EndsInTime: SuiteTrait, TestTrait {
    package var isRecursive: Bool { true }

    package init() {}
}

#if compiler(>=6.1)
    extension EndsInTime: TestScoping {
        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            let ticket = IdleWatch.shared.begin("\(test.name), \(test.sourceLocation)")
            defer { IdleWatch.shared.end(ticket) }
            try await function()
        }
    }
#endif

/// Ends the process when it has been idle while a test waits.
///
/// It runs on a thread of its own: the pool's threads are the ones that may be stuck.
private final class IdleWatch: Sendable {
    package static let shared = IdleWatch()

    private struct State {
        var isRunning = false
        var lastTicket = 0
        var tests: [Int: String] = [:]
    }

    private let state = Locked(State())

    package func begin(_ test: String) -> Int {
        let (ticket, startsThread) = state.withLock { state in
            defer { state.isRunning = true }
            state.lastTicket += 1
            state.tests[state.lastTicket] = test
            return (state.lastTicket, !state.isRunning)
        }
        if startsThread { Thread.detachNewThread { self.watch() } }
        return ticket
    }

    package func end(_ ticket: Int) {
        state.withLock { $0.tests[ticket] = nil }
    }

    private func watch() {
        var (last, idleSeconds) = (clock(), 0)
        while true {
            Thread.sleep(forTimeInterval: 1)
            let (used, waiting) = (clock() - last, state.withLock { Array($0.tests.values) })
            last = clock()
            // POSIX counts in microseconds. An idle process needs some for this thread, and less than 5 ms.
            idleSeconds = used < 5_000 && !waiting.isEmpty ? idleSeconds + 1 : 0
            guard idleSeconds == 15 else { continue }
            let lines = waiting.map { "\($0): waits for what never comes\n" }.joined()
            FileHandle.standardError.write(Data(lines.utf8))
            exit(EXIT_FAILURE)
        }
    }
}
