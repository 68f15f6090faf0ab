import Foundation
import Testing

extension Trait where Self == EndsInTime {
    /// Fails a test that waits for what never comes in seconds, and says which one it is.
    static var endsInTime: Self { EndsInTime(turns: 400) }
}

/// A limit for tests that wait for others: a waiter that got lost is resumed by nobody, and heeds no cancellation, so that
/// `timeLimit` would record its minutes and then wait on.
///
/// Counted are no seconds but turns, each a short sleep and a place in the line of the pool's jobs: where a thousand tests
/// share two cores, turns take as long as the test's own steps do. A test that is over them cannot be ended, so the process
/// is, as by a crash.
struct EndsInTime: SuiteTrait, TestTrait {
    /// 400 turns are 20 s for a test that is alone.
    let turns: Int

    var isRecursive: Bool { true }
}

#if compiler(>=6.1)
    extension EndsInTime: TestScoping {
        func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            let watchdog = Task { [turns] in
                for _ in 0..<turns { try await Task.sleep(for: .milliseconds(50)) }
                Issue.record("\(test.name) waits for what never comes", sourceLocation: test.sourceLocation)
                FileHandle.standardError.write(
                    Data("\(test.name), \(test.sourceLocation): waits for what never comes\n".utf8)
                )
                exit(EXIT_FAILURE)
            }
            defer { watchdog.cancel() }
            try await function()
        }
    }
#endif
