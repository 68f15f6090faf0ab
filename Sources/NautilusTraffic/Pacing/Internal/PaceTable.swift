import Nautilus

/// A part of an origin whose requests draw on the same quotas.
struct PacePart: Hashable, Sendable {
    let origin: HttpOrigin
    /// The partition's name, chosen by the app.
    let partition: String
}

extension PacePart: Redacted {
    /// The origin; not the partition, which may be a user's name.
    var description: String { "PacePart(\(origin))" }
}

/// The state that pacing guards with its lock: what is known about each part, and the requests that wait there.
struct PaceTable<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    typealias Machine = PaceMachine<Waiter>

    private var parts = OriginTable<PacePart, Machine>()
    private let rules: PaceRules

    init(rules: PaceRules) {
        self.rules = rules
    }

    /// The number of a request that goes at once; nil when ``ask(_:_:at:)`` has to answer.
    mutating func immediateNumber(in part: PacePart) -> Int? {
        parts.place(of: part).flatMap { parts[$0].immediateNumber() }
    }

    /// Asks whether a request may go.
    mutating func ask(_ part: PacePart, _ asker: PaceAsker, at now: Duration) -> Machine.Answer {
        let place = place(of: part, at: now)
        return parts[place].ask(asker, at: now)
    }

    /// Asks again, since something may have changed since the first time, and joins the queue if the answer is still to
    /// wait.
    ///
    /// - Returns: The answer, and the time for which to set an alarm; nil when the present alarm rings early enough.
    mutating func join(
        _ part: PacePart,
        _ entrant: Machine.Entrant,
        draw: Double,
        at now: Duration
    ) -> (answer: Machine.Answer, alarm: Duration?) {
        let place = place(of: part, at: now)
        let answer = parts[place].ask(entrant.asker, at: now)
        guard answer == .wait else { return (answer, nil) }
        parts[place].wait(entrant, draw: draw)
        return (.wait, setAlarm(place, at: now))
    }

    /// Stops waiting; nil when the request is not waiting, because it has been released.
    mutating func cancel(_ part: PacePart, _ id: Waiter.ID) -> Waiter? {
        parts.place(of: part).flatMap { parts[$0].cancel(id) }
    }

    /// Releases the first in the queue, if its slot has come.
    mutating func release(_ part: PacePart, at now: Duration, draw: Double) -> (waiter: Waiter, number: Int)? {
        parts.place(of: part).flatMap { parts[$0].release(at: now, draw: draw) }
    }

    /// The requests that have waited too long.
    mutating func turnAwayOverdue(_ part: PacePart, at now: Duration) -> [(
        waiter: Waiter, refusal: FailureKind.Refusal
    )] {
        parts.place(of: part).map { parts[$0].turnAwayOverdue(at: now) } ?? []
    }

    /// Notes that a request was answered.
    ///
    /// - Returns: The requests that no longer wait, and whether any still do.
    mutating func answered(
        _ part: PacePart,
        _ number: Int,
        limits: [RateLimit],
        retryAfter: Duration?,
        at now: Duration
    ) -> (turnedAway: [(waiter: Waiter, refusal: FailureKind.Refusal)], hasWaiters: Bool) {
        guard let place = parts.place(of: part) else { return ([], false) }
        let turnedAway = parts[place].answered(
            number,
            limits: limits,
            retryAfter: retryAfter,
            at: now
        )
        return (turnedAway, parts[place].waiting > 0)
    }

    /// Counts a request that has ended without an informative answer.
    ///
    /// - Returns: Whether any request waits.
    mutating func ended(_ part: PacePart, _ number: Int, isSent: Bool, isAnswered: Bool) -> Bool {
        guard let place = parts.place(of: part) else { return false }
        parts[place].ended(number, isSent: isSent, isAnswered: isAnswered)
        return parts[place].waiting > 0
    }

    /// The time for which to set an alarm; nil when nothing waits, or the present alarm rings early enough.
    mutating func alarm(for part: PacePart, at now: Duration) -> Duration? {
        parts.place(of: part).flatMap { setAlarm($0, at: now) }
    }

    /// Ends the alarm for `time`; false when it no longer counts, because an earlier one was set.
    mutating func endAlarm(for part: PacePart, at time: Duration) -> Bool {
        guard let place = parts.place(of: part), parts[place].alarm == time else { return false }
        parts[place].alarm = nil
        return true
    }

    /// How many requests are under way in all parts of `origin`; for tests.
    func underWayCount(for origin: HttpOrigin) -> Int {
        parts.sum { $0.origin == origin ? $1.underWay : 0 }
    }

    /// How many requests wait in all parts of `origin`.
    func waitingCount(for origin: HttpOrigin) -> Int {
        parts.sum { $0.origin == origin ? $1.waiting : 0 }
    }

    private mutating func setAlarm(_ place: Int, at now: Duration) -> Duration? {
        guard let next = parts[place].nextAlarm(at: now) else { return nil }
        if let alarm = parts[place].alarm, alarm <= next { return nil }
        parts[place].alarm = next
        return next
    }

    private mutating func place(of part: PacePart, at now: Duration) -> Int {
        parts.place(of: part) {
            Machine(rules: rules)
        } worth: { machine in
            machine.worth(at: now)
        }
    }
}
