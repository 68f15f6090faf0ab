import Nautilus

/// A request that asks to be sent.
struct PaceAsker: Sendable {
    /// The time that was left until the call's deadline when the request came; nil when there is no deadline.
    let remaining: Duration?
    /// Whether the request goes to the front of the queue, because others may wait for the credential that it brings.
    let isUrgent: Bool

    fileprivate var urgency: Int { isUrgent ? 1 : 0 }
}

extension PaceAsker {
    init(_ context: AttemptContext) {
        // The time left when the attempt began, and the time left now, which in a test without a call is unknown.
        let remaining = [context.remaining, CallDeadline.remaining].compactMap { $0 }.min()
        self.init(remaining: remaining, isUrgent: context.isForCredential)
    }
}

/// The rules by which requests to one partition wait, as pure transitions: no clock, no lock, no randomness.
///
/// Waiting requests are released in slots, one after the other. Each slot is as long as the interval, and the release
/// happens at a random moment within it, so that clients which were sent away together do not come back together. No
/// slot begins before the server's pause, or the window of a used-up limit, is over.
struct PaceMachine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    /// The answer to a request that asks to be sent.
    enum Answer: Hashable, Sendable {
        /// The request goes, with this number.
        case go(number: Int)
        case wait
        case refuse(FailureKind.Refusal)
    }

    /// A request that waits.
    struct Entrant: Identifiable, Sendable {
        let waiter: Waiter
        /// When the request came.
        let start: Duration
        let asker: PaceAsker

        var id: Waiter.ID { waiter.id }
    }

    private let rules: PaceRules
    private var limits = PaceLimits()
    /// The requests that count towards the client's own rate; nil when it has none.
    private var starts: RecentStarts?
    /// When each request under way was let go, if the client has its own rate.
    private var letGo: [Int: Duration] = [:]
    /// When the pause ordered by the server ends; nil when there is none.
    private var pauseEnd: Duration?
    private var queue = WaitQueue<Entrant>()
    private(set) var underWay = 0
    private var lastNumber = 0
    /// When the last block ended or will end.
    private var blockEnd = Duration.zero
    /// When the next slot may begin, apart from blocks.
    private var nextSlot = Duration.zero
    /// When the server last said anything of its limits, or was asked in spite of them.
    private var lastWord = Duration.zero
    /// The number of the request that was sent in spite of the server's word, and when that word came; nil when there is
    /// none.
    private var probe: (number: Int, wordBefore: Duration)?
    /// The moment, from 0 to 1, within its slot at which the first in the queue is released.
    private var draw = 0.0
    /// When the present alarm rings; nil when none is set.
    var alarm: Duration?

    init(rules: PaceRules) {
        self.rules = rules
        self.starts = rules.rate.map { RecentStarts($0) }
    }

    /// How many requests wait.
    var waiting: Int { queue.count }

    /// The value of keeping this state: for how much longer the server's word holds.
    func worth(at now: Duration) -> OriginWorth {
        guard waiting == 0, underWay == 0 else { return .indispensable }
        // The client's own rate is a promise, and its partitions are the app's own.
        if let end = starts?.lastEnd, end > now { return .indispensable }
        let end = max(pauseEnd ?? now, limits.lastEnd ?? now)
        return end > now ? .some((end - now) / .seconds(1)) : .nothing
    }

    /// The number of a request that goes at once, regardless of the time; nil when ``ask(_:at:)`` has to answer.
    mutating func immediateNumber() -> Int? {
        guard waiting == 0, pauseEnd == nil, limits.count == 0, starts == nil else { return nil }
        return begin(at: .zero)
    }

    /// Asks whether a request may go.
    mutating func ask(_ asker: PaceAsker, at now: Duration) -> Answer {
        let (block, ahead) = (updateBlock(at: now), asker.urgency > 0 ? 0 : waiting)
        guard ahead > 0 || block != nil else { return .go(number: begin(at: now)) }
        let wait = waitEnd(ahead: ahead, at: now) - now
        if let refusal = rules.refusal(of: wait, remaining: asker.remaining) {
            guard mayProbe(at: now) else { return .refuse(refusal) }
            let number = begin(at: now)
            (probe, lastWord) = ((number, lastWord), now)
            return .go(number: number)
        }
        return ahead < rules.maxWaiting ? .wait : .refuse(.tooManyWaiting(limit: rules.maxWaiting))
    }

    /// Adds a request that was just told to wait.
    ///
    /// - Parameter draw: From 0 to 1; used if the request is the first in the queue.
    mutating func wait(_ entrant: Entrant, draw: Double) {
        if waiting == 0 { self.draw = draw }
        queue.append(entrant, urgency: entrant.asker.urgency)
    }

    /// Stops waiting; nil when the request is not waiting, because it has been released.
    mutating func cancel(_ id: Waiter.ID) -> Waiter? {
        queue.remove(id)?.waiter
    }

    /// Releases the first in the queue, if its slot has come.
    ///
    /// - Parameter draw: From 0 to 1; used for the next request in the queue.
    /// - Returns: The request that goes, and its number; nil when none is due.
    mutating func release(at now: Duration, draw: Double) -> (waiter: Waiter, number: Int)? {
        guard let due = nextRelease(at: now), due <= now, let entrant = queue.popFirst() else { return nil }
        // Turns missed while the whole machine slept are not made up for, since that would release all requests at
        // once.
        nextSlot = max(max(blockEnd, nextSlot) + rules.interval, now)
        self.draw = draw
        return (entrant.waiter, begin(at: now))
    }

    /// The time at which the first in the queue is released, if nothing changes; nil when no request waits.
    mutating func nextRelease(at now: Duration) -> Duration? {
        guard waiting > 0 else { return nil }
        let block = updateBlock(at: now)
        return max(max(blockEnd, nextSlot) + rules.interval * draw, block ?? .zero)
    }

    /// The time at which something has to be done for the queue: a release, or the end of the longest wait; nil when no
    /// request waits.
    mutating func nextAlarm(at now: Duration) -> Duration? {
        guard let release = nextRelease(at: now) else { return nil }
        guard let start = longestStart, updateBlock(at: now) != nil else { return release }
        return min(release, max(start + rules.longestWait, now))
    }

    /// When the request came that has waited longest: not the first in the queue, if others have gone ahead of it.
    private var longestStart: Duration? { queue.firstOfEach.map(\.start).min() }

    /// Takes out the requests that have waited too long for others to end: how long that takes was not known when they
    /// came. Those that are only late, as after the machine has slept, stay.
    mutating func turnAwayOverdue(at now: Duration) -> [(waiter: Waiter, refusal: FailureKind.Refusal)] {
        guard let start = longestStart, now - start >= rules.longestWait, updateBlock(at: now) != nil else { return [] }
        return queue.remove { now - $0.start >= rules.longestWait }.map { entrant in
            (entrant.waiter, .waitTooLong(now - entrant.start, limit: rules.maxWait))
        }
    }

    /// Notes that a request was answered.
    ///
    /// - Returns: The requests that no longer wait, since their wait has become too long.
    mutating func answered(
        _ number: Int,
        limits reports: [RateLimit],
        retryAfter: Duration?,
        at now: Duration
    ) -> [(waiter: Waiter, refusal: FailureKind.Refusal)] {
        underWay -= 1
        letGo[number] = nil
        endProbe(by: number)
        if retryAfter != nil || !reports.isEmpty { lastWord = now }
        if let retryAfter { pauseEnd = max(pauseEnd ?? .zero, now + retryAfter.clampedToCentury) }
        // If a response has both, `Retry-After` takes precedence (draft-11 §7).
        let reports = retryAfter.map { hint in reports.map { $0.resetting(in: hint) } } ?? reports
        limits.report(reports, by: number, lastNumber: lastNumber, at: now)
        return turnAway(at: now)
    }

    /// Notes that a request has ended without an answer, or by one that says nothing of limits.
    ///
    /// - Parameters:
    ///   - number: The request.
    ///   - isSent: Whether it has gone out, so that the server may have counted it. If not, it never took its slot.
    ///   - isAnswered: Whether it was answered. Default: no.
    mutating func ended(_ number: Int, isSent: Bool, isAnswered: Bool = false) {
        underWay -= 1
        if let start = letGo.removeValue(forKey: number), !isSent { starts?.remove(start) }
        if isAnswered { endProbe(by: number) }
        if isSent { limits.countRequest() }
        // It waits for its credential, and asks again.
        if !isSent, let probe, probe.number == number { (self.probe, lastWord) = (nil, probe.wordBefore) }
    }
}

extension PaceMachine {
    /// - Parameter now: Only used if the client has its own rate.
    private mutating func begin(at now: Duration) -> Int {
        underWay += 1
        lastNumber += 1
        if let start = starts?.note(now) { letGo[lastNumber] = start }
        return lastNumber
    }

    /// Until when nothing may go; nil when a request may go.
    private mutating func updateBlock(at now: Duration) -> Duration? {
        limits.reset(at: now, lastNumber: lastNumber)
        if let end = pauseEnd, end <= now { (pauseEnd, blockEnd) = (nil, max(blockEnd, end)) }
        var block = limits.blockedUntil(underWay: underWay, at: now).map { max($0, pauseEnd ?? $0) } ?? pauseEnd
        if let slot = starts?.slot(ahead: 0, at: now), slot > now { block = max(block ?? slot, slot) }
        // The block ended when it was due or, if an answer has reported more than was known, just now.
        blockEnd = block ?? min(blockEnd, now)
        return block
    }

    /// Forgets what the server was believed to have said, once it has answered the request that was sent nevertheless.
    private mutating func endProbe(by number: Int) {
        guard probe?.number == number else { return }
        (self.probe, pauseEnd, limits) = (nil, nil, PaceLimits())
    }

    /// Whether a request may ask in spite of the server's word, since that goes beyond the longest wait, and may be a
    /// mistake: once in that time, or in a minute if that is longer.
    private func mayProbe(at now: Duration) -> Bool {
        guard waiting == 0, starts?.slot(ahead: 0, at: now) ?? now <= now else { return false }
        let end = max(pauseEnd ?? now, limits.blockedUntil(underWay: 0, at: now) ?? now)
        return end - now > rules.maxWait && now - lastWord >= max(rules.maxWait, .seconds(60))
    }

    /// The time until which a request that comes now would certainly wait.
    ///
    /// Only the server's word and the client's own rate count here: if a limit is used up only when all requests under
    /// way are counted, their answers may say otherwise.
    private func waitEnd(ahead: Int, at now: Duration) -> Duration {
        let slot = ahead > 0 ? nextSlot : now
        let end = max(now, pauseEnd ?? now, limits.blockedUntil(underWay: 0, at: now) ?? now, slot)
        // Adds the slots of the requests ahead.
        return max(end + rules.interval * ahead, starts?.slot(ahead: ahead, at: now) ?? end)
    }

    /// Takes out the requests whose wait has become too long.
    private mutating func turnAway(at now: Duration) -> [(waiter: Waiter, refusal: FailureKind.Refusal)] {
        guard waiting > 0 else { return [] }
        _ = updateBlock(at: now)
        let end = waitEnd(ahead: 0, at: now)
        let reason = { [rules] (entrant: Entrant) in
            rules.refusal(of: end - entrant.start, remaining: entrant.asker.remaining)
        }
        return queue.remove { reason($0) != nil }.compactMap { entrant in
            reason(entrant).map { (entrant.waiter, $0) }
        }
    }
}

extension RateLimit {
    /// The same limit, used up until the end of `Retry-After`.
    fileprivate func resetting(in hint: Duration) -> RateLimit {
        guard remaining == 0 else { return self }
        var limit = self
        limit.reset = hint
        return limit
    }
}
