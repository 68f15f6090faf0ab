import Nautilus

/// Marks what runs inside an exchange that holds something others wait for: a slot, or the part of a probe.
///
/// An exchange may need another one: a retrier prepares it, and waits for a refresh that goes to the same origin. That one
/// must not wait for a slot which only its own end would free, nor be refused while the probe that it serves is under way.
struct TrafficScope: Sendable {
    private struct State: Sendable {
        let holder: ObjectIdentifier
        let origin: HttpOrigin
        let outer: TrafficScope?
        var isHeld = true
    }

    /// All in one block of memory, since every exchange under a limit makes one.
    private let state: Locked<State>

    /// The innermost scope of the current task, inherited by the tasks that it starts; nil outside of all.
    @TaskLocal static var current: TrafficScope?

    /// A scope inside the current one, for an exchange with `origin` that `holder` has let through.
    init(_ holder: AnyObject, _ origin: HttpOrigin) {
        state = Locked(State(holder: ObjectIdentifier(holder), origin: origin, outer: Self.current))
    }

    /// The exchange is over: tasks that it has left behind are on their own.
    func end() {
        state.withLock { $0.isHeld = false }
    }

    /// Whether the current task is part of an exchange with `origin` that `holder` has let through and that goes on.
    static func contains(_ holder: AnyObject, _ origin: HttpOrigin) -> Bool {
        var scope = current
        while let inner = scope {
            let (isIt, outer) = inner.state.withLock { state in
                (state.isHeld && state.holder == ObjectIdentifier(holder) && state.origin == origin, state.outer)
            }
            if isIt { return true }
            scope = outer
        }
        return false
    }
}

extension HttpError {
    /// The failure of a request that was held back here: nothing of it was sent.
    init(refusal: TrafficRefusal) {
        self.init(
            .refused(refusal),
            stage: .intercept,
            delivery: .notSent,
            retryAfter: refusal.retryAfter
        )
    }
}
