import Nautilus

/// The rules of one origin's circuit, as pure transitions: no clock, no lock, no randomness.
///
/// Time and the length of pauses are passed in, and changes are returned. `CircuitBreaker` is the shell that runs it
/// under a lock.
struct CircuitMachine: Sendable {
    /// The state of the circuit.
    enum State: Sendable {
        case closed
        case open(until: Duration)
        /// How many probes are under way, and when the latest has begun.
        case halfOpen(probes: Int, latest: Duration)
    }

    /// A request that was let through.
    struct Permit: Hashable, Sendable {
        /// Counts the states. A request that was let through in an earlier state says nothing about the present one.
        let epoch: Int
        /// Whether this request decides, alone or with others if it takes long.
        let isProbe: Bool
        /// How often in a row the circuit had opened by then.
        let openings: Int
        /// The last pause in that row; zero when there was none.
        let previousPause: Duration
    }

    /// How a request ended.
    enum Outcome: Hashable, Sendable {
        case success
        /// The origin failed. The pause applies if this opens the circuit.
        case failure(pause: Duration)
        /// The outcome says nothing about the origin: the request was cancelled, or not sent.
        case nothing
    }

    /// The answer to a request that asks to be sent.
    enum Answer: Hashable, Sendable {
        case go(Permit)
        /// How long until a probe may go; nil while a probe is under way.
        case refuse(nextProbe: Duration?)
    }

    private(set) var state = State.closed
    private(set) var epoch = 0
    private var underWay = 0
    private var openings = 0
    private var previousPause = Duration.zero
    private var window: OutcomeWindow
    /// How many requests have failed since the last success, however long ago.
    private var failuresInARow = 0
    private let limits: CircuitLimits

    init(limits: CircuitLimits) {
        self.limits = limits
        self.window = OutcomeWindow(length: limits.window)
    }

    /// The value of keeping the circuit: for a closed circuit, how close it is to opening; for an open one, the pause
    /// that is left. A forgotten origin starts again with a closed circuit, and has to fail anew before it opens.
    mutating func worth(at now: Duration) -> OriginWorth {
        guard underWay == 0 else { return .indispensable }
        guard case .closed = state else {
            guard case .open(let end) = state, end > now else { return .some(1) }
            return .some(1 + (end - now) / .seconds(1))
        }
        window.forget(at: now)
        let part = min(1, Double(window.total) / Double(limits.minimumThroughput))
        return window.total == 0 ? .nothing : .some(part * window.failureRate)
    }

    /// The permit while the circuit is closed, which takes no time into account; nil when ``ask(at:)`` has to answer.
    mutating func immediatePermit() -> Permit? {
        guard case .closed = state else { return nil }
        return permit(isProbe: false)
    }

    /// Asks whether a request may go.
    mutating func ask(at now: Duration) -> (answer: Answer, change: CircuitEvent.Change?) {
        switch state {
        case .closed:
            return (.go(permit(isProbe: false)), nil)
        case .open(let end) where now < end:
            return (.refuse(nextProbe: end - now), nil)
        case .halfOpen(let probes, let latest) where probes > 0 && now - latest < probeLimit:
            return (.refuse(nextProbe: nil), nil)
        case .halfOpen(let probes, _):
            state = .halfOpen(probes: probes + 1, latest: now)
            return (.go(permit(isProbe: true)), .probed)
        case .open:
            epoch += 1
            state = .halfOpen(probes: 1, latest: now)
            return (.go(permit(isProbe: true)), .probed)
        }
    }

    /// How long a probe alone decides: as long as the pause before it. A probe may be a large upload, or a question
    /// that the server answers late on purpose.
    private var probeLimit: Duration { max(.seconds(1), previousPause) }

    /// Notes that a request that was let through has ended.
    mutating func end(_ permit: Permit, _ outcome: Outcome, at now: Duration) -> CircuitEvent.Change? {
        underWay -= 1
        // The request was let through in another state: a slow failure must not open a circuit that has recovered
        // since.
        guard permit.epoch == epoch else { return nil }
        switch (outcome, permit.isProbe) {
        case (.nothing, false):
            return nil
        case (.nothing, true):
            guard case .halfOpen(let probes, let latest) = state else { return nil }
            if probes == 1 { epoch += 1 }
            state = .halfOpen(probes: probes - 1, latest: latest)
            return nil
        case (.success, false):
            window.count(isFailure: false, at: now)
            failuresInARow = 0
            return nil
        case (.success, true):
            close()
            return .closed
        case (.failure(let pause), false):
            window.count(isFailure: true, at: now)
            failuresInARow += 1
            let isTooOften =
                window.total >= limits.minimumThroughput && window.failureRate >= limits.failureRate
            return isTooOften || failuresInARow >= limits.failuresInARow ? open(for: pause, at: now) : nil
        case (.failure(let pause), true):
            return open(for: pause, at: now)
        }
    }

    private mutating func permit(isProbe: Bool) -> Permit {
        underWay += 1
        return Permit(epoch: epoch, isProbe: isProbe, openings: openings, previousPause: previousPause)
    }

    private mutating func open(for pause: Duration, at now: Duration) -> CircuitEvent.Change {
        epoch += 1
        openings += 1
        previousPause = pause
        state = .open(until: now + pause.clampedToCentury)
        return .opened(pause: pause.clampedToCentury)
    }

    private mutating func close() {
        epoch += 1
        (openings, previousPause) = (0, .zero)
        state = .closed
        // Outcomes from before the pause no longer count.
        window = OutcomeWindow(length: limits.window)
        failuresInARow = 0
    }
}

extension CircuitMachine {
    /// The state as callers see it.
    func visibleState(at now: Duration) -> CircuitState {
        switch state {
        case .closed: .closed
        case .open(let end) where now < end: .open(remaining: end - now)
        case .open: .halfOpen(isProbing: false)
        case .halfOpen(let probes, _): .halfOpen(isProbing: probes > 0)
        }
    }
}
