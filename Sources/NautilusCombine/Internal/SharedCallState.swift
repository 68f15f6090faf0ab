import Nautilus

/// The state that the lock of a ``SharedCall`` guards: the takers, and the phase of the call. It calls no closures.
struct SharedCallState<Output: Sendable, Failure: Error>: Sendable {
    typealias Outcome = Result<Output, Failure>
    typealias Take = @Sendable (Outcome) -> Void

    /// The step to take for a taker that asks, once the lock is released.
    enum Answer: Sendable {
        case nothing
        case deliver(Outcome, Take)
        case start(run: Int)
    }

    private enum Phase: Sendable {
        case idle
        /// The handle is nil while the call is being started.
        case running(CallHandle?)
        case ended(Outcome)
    }

    private struct Taker: Sendable {
        let take: Take
        var hasAsked = false
    }

    private var phase = Phase.idle
    private var takers: [ObjectIdentifier: Taker] = [:]
    /// The number of the latest call; earlier ones were given up.
    private var run = 0

    /// Adds a taker, which has not asked yet.
    mutating func join(_ id: ObjectIdentifier, _ take: @escaping Take) {
        takers[id] = Taker(take: take)
    }

    mutating func ask(_ id: ObjectIdentifier) -> Answer {
        guard let taker = takers[id] else { return .nothing }
        takers[id]?.hasAsked = true
        switch phase {
        case .running:
            return .nothing
        case .ended(let outcome):
            takers[id] = nil
            return .deliver(outcome, taker.take)
        case .idle:
            run += 1
            phase = .running(nil)
            return .start(run: run)
        }
    }

    /// Keeps the handle of a call that was started.
    ///
    /// - Returns: Whether the call is still wanted, or has ended by itself.
    mutating func keep(_ handle: CallHandle, of run: Int) -> Bool {
        guard run == self.run else { return false }
        switch phase {
        case .idle: return false
        case .ended: return true
        case .running:
            phase = .running(handle)
            return true
        }
    }

    /// Ends the call and returns the closures that take its outcome; none for a call that was given up.
    mutating func end(_ run: Int, _ outcome: Outcome) -> [Take] {
        guard run == self.run, case .running = phase else { return [] }
        phase = .ended(outcome)
        let asking = takers.filter(\.value.hasAsked)
        for id in asking.keys { takers[id] = nil }
        return asking.values.map(\.take)
    }

    /// Removes a taker; does nothing if it is not there.
    ///
    /// - Returns: The call to cancel, if this was the last taker; otherwise nil.
    mutating func leave(_ id: ObjectIdentifier) -> CallHandle? {
        guard takers.removeValue(forKey: id) != nil, takers.isEmpty, case .running(let handle) = phase else {
            return nil
        }
        phase = .idle
        return handle
    }
}
