/// The sends of one attempt: their reports, which the attempt's own task takes, and their joint cancellation.
///
/// The sends are tasks of their own rather than child tasks: the attempt must not wait for a losing send, even if its
/// transport ignores the cancellation.
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
        var running: Set<Sending> = []
        /// Gives back the place in line that was taken for the second send; nil when there is none.
        var leave: (@Sendable () -> Void)?
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
    ///
    /// - Parameter leave: Gives back the second send's place in line. If that send wins, the place becomes the first
    ///   one's, which may still be on its way when the attempt, and with it the attempt's own place, has come to its end.
    ///   Default: nil, there is none.
    func start(
        _ sending: Sending,
        leaving leave: (@Sendable () -> Void)? = nil,
        _ send: @escaping @Sendable () async -> RedirectFollower.Outcome
    ) {
        state.withLock { state in
            state.running.insert(sending)
            if let leave { state.leave = leave }
        }
        let task = BackgroundTask.branch { [self] in
            let outcome = await send()
            state.withLock { _ = $0.running.remove(sending) }
            givePlaceBack { $0.running.isEmpty }
            report { $0.ended.append((sending, outcome)) }
        }
        let isCancelled = state.withLock { state in
            state.tasks[sending] = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Notes that the second send has ended without an answer to take; the first one has the attempt's own place.
    func secondHasLost() {
        givePlaceBack { _ in true }
    }

    private func givePlaceBack(if isFree: (State) -> Bool) {
        state.withLock { isFree($0) ? $0.leave.take() : nil }?()
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
