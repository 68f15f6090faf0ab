import Nautilus

/// One call for any number of takers, made when the first one asks and cancelled when the last one leaves.
///
/// The outcome is kept for takers that ask later, so that the number of calls never depends on how fast a server
/// answers. After a cancellation, the next taker that asks starts a new call.
final class SharedCall<Output: Sendable, Failure: Error>: Sendable {
    /// The outcome of the call.
    typealias Outcome = Result<Output, Failure>
    /// Starts the call.
    typealias Start = @Sendable (_ completion: @escaping @Sendable (Outcome) -> Void) -> CallHandle

    private let state = Locked(SharedCallState<Output, Failure>())
    private let start: Start

    init(_ start: @escaping Start) {
        self.start = start
    }

    /// Adds a taker, which has not asked yet.
    ///
    /// - Parameter take: Called at most once, after the taker has asked, unless it has left.
    func join(_ taker: ObjectIdentifier, _ take: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { $0.join(taker, take) }
    }

    /// Starts the call, or delivers its outcome if there is one.
    func ask(_ taker: ObjectIdentifier) {
        switch state.withLock({ $0.ask(taker) }) {
        case .nothing: break
        case .deliver(let outcome, let take): take(outcome)
        case .start(let run):
            let handle = start { [self] in end(run, $0) }
            // All takers may have left meanwhile.
            if !state.withLock({ $0.keep(handle, of: run) }) { handle.cancel() }
        }
    }

    /// Removes a taker; does nothing if it is not there.
    func leave(_ taker: ObjectIdentifier) {
        state.withLock { $0.leave(taker) }?.cancel()
    }

    private func end(_ run: Int, _ outcome: Outcome) {
        for take in state.withLock({ $0.end(run, outcome) }) { take(outcome) }
    }
}
