/// How the calls of a storm have ended.
final class Ledger: Sendable {
    struct Entries: Sendable {
        var succeeded = 0
        var failed = 0
        var lastEnd = Duration.zero

        var ended: Int { succeeded + failed }
    }

    private let state = Locked(Entries())

    var entries: Entries { state.withLock { $0 } }

    func enter(_ result: Result<Void, any Error>, at now: Duration) {
        state.withLock { entries in
            switch result {
            case .success: entries.succeeded += 1
            case .failure: entries.failed += 1
            }
            entries.lastEnd = now
        }
    }
}
