import Nautilus

/// A part of an origin whose requests draw on the same quotas.
struct PaceLane: Hashable, Sendable {
    let origin: HttpOrigin
    /// The partition's name, chosen by the app.
    let partition: String
}

extension PaceLane: Redacted {
    /// The origin; not the partition, which may be a user's name.
    var description: String { "PaceLane(\(origin))" }
}

/// The state that pacing guards with its lock: what is known about each lane, and the requests that wait there.
struct PaceTable<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    typealias Machine = PaceMachine<Waiter>

    private var lanes = OriginTable<PaceLane, Machine>()
    private let rules: PaceRules

    init(rules: PaceRules) {
        self.rules = rules
    }

    /// The number of a request that goes at once; nil when ``ask(_:_:at:)`` has to answer.
    mutating func immediateNumber(in lane: PaceLane) -> Int? {
        lanes.place(of: lane).flatMap { lanes[$0].immediateNumber() }
    }

    /// Asks whether a request may go.
    mutating func ask(_ lane: PaceLane, _ asker: PaceAsker, at now: Duration) -> Machine.Answer {
        let place = place(of: lane, at: now)
        return lanes[place].ask(asker, at: now)
    }

    /// Asks again, since something may have changed since the first time, and joins the line if the answer is still to
    /// wait.
    ///
    /// - Returns: The answer, and the time for which to set an alarm; nil when the present alarm rings early enough.
    mutating func join(
        _ lane: PaceLane,
        _ entrant: Machine.Entrant,
        draw: Double,
        at now: Duration
    ) -> (answer: Machine.Answer, alarm: Duration?) {
        let place = place(of: lane, at: now)
        let answer = lanes[place].ask(entrant.asker, at: now)
        guard answer == .wait else { return (answer, nil) }
        lanes[place].wait(entrant, draw: draw)
        return (.wait, setAlarm(place, at: now))
    }

    /// Stops waiting; nil when the request is not waiting, because it has been released.
    mutating func cancel(_ lane: PaceLane, _ id: Waiter.ID) -> Waiter? {
        lanes.place(of: lane).flatMap { lanes[$0].cancel(id) }
    }

    /// Releases the first in line, if its turn has come.
    mutating func release(_ lane: PaceLane, at now: Duration, draw: Double) -> (waiter: Waiter, number: Int)? {
        lanes.place(of: lane).flatMap { lanes[$0].release(at: now, draw: draw) }
    }

    /// The requests that have waited too long.
    mutating func turnAwayOverdue(_ lane: PaceLane, at now: Duration) -> [(
        waiter: Waiter, refusal: FailureKind.Refusal
    )] {
        lanes.place(of: lane).map { lanes[$0].turnAwayOverdue(at: now) } ?? []
    }

    /// Notes that a request was answered.
    ///
    /// - Returns: The requests that no longer wait, and whether any still do.
    mutating func answered(
        _ lane: PaceLane,
        _ number: Int,
        limits: [RateLimit],
        retryAfter: Duration?,
        at now: Duration
    ) -> (turnedAway: [(waiter: Waiter, refusal: FailureKind.Refusal)], hasWaiters: Bool) {
        guard let place = lanes.place(of: lane) else { return ([], false) }
        let turnedAway = lanes[place].answered(
            number,
            limits: limits,
            retryAfter: retryAfter,
            at: now
        )
        return (turnedAway, lanes[place].waiting > 0)
    }

    /// Counts a request that has ended without an informative answer.
    ///
    /// - Returns: Whether any request waits.
    mutating func ended(_ lane: PaceLane, _ number: Int, isSent: Bool, isAnswered: Bool) -> Bool {
        guard let place = lanes.place(of: lane) else { return false }
        lanes[place].ended(number, isSent: isSent, isAnswered: isAnswered)
        return lanes[place].waiting > 0
    }

    /// The time for which to set an alarm; nil when nothing waits, or the present alarm rings early enough.
    mutating func alarm(for lane: PaceLane, at now: Duration) -> Duration? {
        lanes.place(of: lane).flatMap { setAlarm($0, at: now) }
    }

    /// Ends the alarm for `time`; false when it no longer counts, because an earlier one was set.
    mutating func endAlarm(for lane: PaceLane, at time: Duration) -> Bool {
        guard let place = lanes.place(of: lane), lanes[place].alarm == time else { return false }
        lanes[place].alarm = nil
        return true
    }

    /// How many requests are under way in all lanes of `origin`; for tests.
    func underWayCount(for origin: HttpOrigin) -> Int {
        lanes.sum { $0.origin == origin ? $1.underWay : 0 }
    }

    /// How many requests wait in all lanes of `origin`.
    func waitingCount(for origin: HttpOrigin) -> Int {
        lanes.sum { $0.origin == origin ? $1.waiting : 0 }
    }

    private mutating func setAlarm(_ place: Int, at now: Duration) -> Duration? {
        guard let next = lanes[place].nextAlarm(at: now) else { return nil }
        if let alarm = lanes[place].alarm, alarm <= next { return nil }
        lanes[place].alarm = next
        return next
    }

    private mutating func place(of lane: PaceLane, at now: Duration) -> Int {
        lanes.place(of: lane) {
            Machine(rules: rules)
        } worth: { machine in
            machine.worth(at: now)
        }
    }
}
