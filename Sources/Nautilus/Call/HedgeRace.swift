/// The sends of one attempt: their reports, to be taken by the attempt's own task, and their common end.
///
/// The sends are tasks of their own and no children, since a transport that does not heed its cancellation would hold
/// up the winner: the attempt does not wait for a send that has lost.
final class HedgeRace: Sendable {
    typealias Sending = CallTrace.Sending

    enum Report: Sendable {
        case ended(Sending, RedirectFollower.Outcome)
        case delayPassed
    }

    private struct State {
        var ended: [(Sending, RedirectFollower.Outcome)] = []
        var hasDelayPassed = false
        var reader: CheckedContinuation<Report, Never>?
        var tasks: [Sending: Task<Void, Never>] = [:]
        var isCancelled = false

        /// The end of a send comes before the delay that has passed as well: there is nothing left to hedge then.
        mutating func takeReport() -> Report? {
            if !ended.isEmpty {
                let (sending, outcome) = ended.removeFirst()
                return .ended(sending, outcome)
            }
            guard hasDelayPassed else { return nil }
            hasDelayPassed = false
            return .delayPassed
        }
    }

    private let state = Locked(State())

    /// Starts a send, which is cancelled at once when the race has been.
    func start(_ sending: Sending, _ send: @escaping @Sendable () async -> RedirectFollower.Outcome) {
        let task = BackgroundTask.branch { [self] in
            let outcome = await send()
            report { $0.ended.append((sending, outcome)) }
        }
        let isCancelled = state.withLock { state in
            state.tasks[sending] = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func delayPassed() {
        report { $0.hasDelayPassed = true }
    }

    /// The next report. Also after a cancellation, which the sends report by their ends.
    func next() async -> Report {
        if let report = state.withLock({ $0.takeReport() }) { return report }
        return await withCheckedContinuation { reader in
            let report = state.withLock { state in
                let report = state.takeReport()
                if report == nil { state.reader = reader }
                return report
            }
            if let report { reader.resume(returning: report) }
        }
    }

    /// Whether the attempt was cancelled, or its time is over.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels all sends, those included that are started later.
    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return state.tasks
        }
        for task in tasks.values { task.cancel() }
    }

    /// Cancels the send that has lost.
    func cancel(_ sending: Sending) {
        state.withLock { $0.tasks[sending] }?.cancel()
    }

    private func report(_ take: (inout State) -> Void) {
        let next = state.withLock { state -> (CheckedContinuation<Report, Never>, Report)? in
            take(&state)
            guard let reader = state.reader, let report = state.takeReport() else { return nil }
            state.reader = nil
            return (reader, report)
        }
        if let (reader, report) = next { reader.resume(returning: report) }
    }
}
