import Nautilus

/// The sends of one attempt: their reports, which the attempt's own task takes, and their joint cancellation.
///
/// The sends are tasks of their own rather than child tasks: the attempt must not wait for a losing send, even if its
/// transport ignores the cancellation.
final class HedgeRace: Sendable {
    typealias Sending = CallTrace.Sending

    enum Report: Sendable {
        case ended(Sending, HedgedExchange.Outcome)
        case delayPassed
    }

    private struct State {
        var ended: [(Sending, HedgedExchange.Outcome)] = []
        var hasDelayPassed = false
        var reader: CheckedContinuation<Report, Never>?
        var tasks: [Sending: Task<Void, Never>] = [:]
        var isCancelled = false

        /// Takes the next report; the end of a send first, since after it there is nothing left to hedge.
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

    /// Starts a send; it is cancelled at once if the race has been cancelled already.
    func start(
        _ sending: Sending,
        _ send: @escaping @Sendable () async -> HedgedExchange.Outcome
    ) {
        // The interceptors on its way ask how much time the call has left.
        let reentered = CallScope.reentering(send)
        let task = BackgroundTask.branch { [self] in
            let outcome: HedgedExchange.Outcome
            do { outcome = try await reentered() } catch { outcome = .failure(error) }
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

    /// Returns the next report; also after a cancellation, since the cancelled sends still report their ends.
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

    /// Cancels all sends, even those started later.
    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return state.tasks
        }
        for task in tasks.values { task.cancel() }
    }

    /// Cancels a losing send.
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
