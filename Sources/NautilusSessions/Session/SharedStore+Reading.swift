import Nautilus

/// What is known of a store's promptness in reading.
struct OverdueReading: Sendable {
    /// Whether the last look was given up, and none has ended since.
    var isOverdue = false
    /// Ends with the look that is made instead of those that callers would make, or when that has taken too long for a
    /// caller; nil while there is none.
    var nextLook: Task<Void, Never>?
}

extension SharedStore {
    /// The longest that a caller waits for a store that was overdue: enough for one that works again, and bearable.
    private var patience: Duration { .seconds(1) }

    /// Looks at the store within the time limit.
    ///
    /// Once a look has been given up, one that no caller waits for long is made in place of the others, until it ends:
    /// every attempt of a call looks, and each would wait for the limit. The calls of its first second wait that long,
    /// so that they hear what a store says that works again.
    func read<Value: Sendable>(
        endingWhenCancelled endsWhenCancelled: Bool = true,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws(SessionError) -> Value {
        if overdue.withLock({ $0.isOverdue }) {
            let nextLook = nextLook()
            _ = await wait(atMost: patience, endingWhenCancelled: endsWhenCancelled) { await nextLook.value }
            guard !overdue.withLock({ $0.isOverdue }) else {
                throw SessionError(endsWhenCancelled && Task.isCancelled ? .cancelled : .storeTimeout(limit))
            }
        }
        do throws(SessionError) {
            return try await limited(endingWhenCancelled: endsWhenCancelled, work)
        } catch {
            guard case .storeTimeout = error.kind else { throw error }
            overdue.withLock { $0.isOverdue = true }
            throw error
        }
    }

    private func nextLook() -> Task<Void, Never> {
        overdue.withLock { reading in
            if let nextLook = reading.nextLook { return nextLook }
            let look = BackgroundTask.start { [overdue, store, key] in
                let hasEnded = await wait(atMost: limit) {
                    // It may be either that hangs; their failure is for a caller to hear.
                    _ = try? await store.version(of: key)
                    _ = try? await store.load(key)
                    return true
                }
                overdue.withLock { $0 = OverdueReading(isOverdue: hasEnded == nil) }
            }
            let nextLook = BackgroundTask.start { _ = await wait(atMost: patience) { await look.value } }
            reading.nextLook = nextLook
            return nextLook
        }
    }
}
