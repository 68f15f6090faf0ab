import Nautilus

/// A mark on what runs inside an exchange that holds something others wait for: a slot, or the role of a probe.
///
/// An exchange may need another one: its retrier may wait for a refresh that goes to the same origin. The refresh must
/// not wait for a slot that only the end of the exchange would free, nor be refused while the probe that it serves is
/// under way.
struct TrafficScope: Sendable {
    private struct State: Sendable {
        let holder: ObjectIdentifier
        let origin: HttpOrigin
        let mark: Int
        let outer: TrafficScope?
        var isHeld = true
    }

    /// Kept in one block of memory, since every exchange under a limit creates one.
    private let state: Locked<State>

    /// The innermost scope of the current task, inherited by the tasks that it starts; nil outside all scopes.
    @TaskLocal static var current: TrafficScope?

    /// Creates a scope inside the current one, for an exchange with `origin` that `holder` has let through.
    ///
    /// - Parameter mark: Tells the holder when that was. Default: 0, for one that need not know.
    init(_ holder: AnyObject, _ origin: HttpOrigin, mark: Int = 0) {
        state = Locked(State(holder: ObjectIdentifier(holder), origin: origin, mark: mark, outer: Self.current))
    }

    /// Ends the scope with its exchange; tasks that the exchange has left behind no longer belong to it.
    func end() {
        state.withLock { $0.isHeld = false }
    }

    /// Whether the current task is part of an exchange with `origin` that `holder` has let through and that is still
    /// going on.
    ///
    /// - Parameter mark: The mark of that exchange. Default: nil, any.
    static func contains(_ holder: AnyObject, _ origin: HttpOrigin, mark: Int? = nil) -> Bool {
        var scope = current
        while let inner = scope {
            let (isIt, outer) = inner.state.withLock { state in
                let isOfHolder = state.holder == ObjectIdentifier(holder) && state.origin == origin
                return (state.isHeld && isOfHolder && state.mark == mark ?? state.mark, state.outer)
            }
            if isIt { return true }
            scope = outer
        }
        return false
    }
}

extension HttpError {
    /// Creates the failure of a request that was held back here, so that nothing of it was sent.
    init(refusal: TrafficRefusal) {
        self.init(
            .refused(refusal),
            stage: .intercept,
            delivery: .notSent,
            retryAfter: refusal.retryAfter
        )
    }
}
