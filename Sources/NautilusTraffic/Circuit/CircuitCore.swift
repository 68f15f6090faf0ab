import Nautilus

/// The state that a circuit breaker guards by its lock: the circuits, and the events that are yet to be sent.
struct CircuitCore: Sendable {
    var outbox = Outbox<CircuitEvent>()
    private var circuits = OriginTable<HttpOrigin, CircuitMachine>()
    private let limits: CircuitLimits

    /// How many origins are known.
    var count: Int { circuits.count }

    init(limits: CircuitLimits) {
        self.limits = limits
    }

    /// The permit while the circuit of `origin` is closed; nil when ``ask(_:at:)`` has to answer.
    mutating func immediatePermit(for origin: HttpOrigin) -> CircuitMachine.Permit? {
        circuits.place(of: origin).flatMap { circuits[$0].immediatePermit() }
    }

    /// A request wants to go to `origin`.
    mutating func ask(_ origin: HttpOrigin, at now: Duration) -> CircuitMachine.Answer {
        let place = circuits.place(of: origin) {
            CircuitMachine(limits: limits)
        } worth: { circuit in
            circuit.worth(at: now)
        }
        let (answer, change) = circuits[place].ask(at: now)
        if let change { outbox.add(CircuitEvent(origin: origin, change: change)) }
        return answer
    }

    /// A request to `origin` has ended.
    ///
    /// - Returns: Whether there is something to tell.
    mutating func end(
        _ permit: CircuitMachine.Permit,
        _ outcome: CircuitMachine.Outcome,
        of origin: HttpOrigin,
        at now: Duration
    ) -> Bool {
        guard let place = circuits.place(of: origin),
            let change = circuits[place].end(permit, outcome, at: now)
        else { return false }
        outbox.add(CircuitEvent(origin: origin, change: change))
        return true
    }

    /// The visible state of the circuit to `origin`.
    mutating func state(of origin: HttpOrigin, at now: Duration) -> CircuitState {
        circuits.place(of: origin).map { circuits[$0].visibleState(at: now) } ?? .closed
    }
}
