import Foundation

/// A record of each exchange of one call, accessible to everything that sends for the call: its own task, the tasks of
/// a hedge, the subrequests of an interceptor.
struct ExchangeBook: Sendable {
    /// An exchange under way.
    struct Entry: Sendable {
        /// Its number in the call.
        let number: Int
        /// Its index among the exchanges of its attempt.
        fileprivate let index: Int
        fileprivate let progress: ExchangeProgress
    }

    private struct State: Sendable {
        var lastNumber = 0
        var attempt = 0
        /// The exchanges of the current attempt, in the order in which they were sent.
        var records: [CallTrace.Exchange] = []
        /// The progress of exchanges under way that may outlive the attempt, by number.
        var progress: [Int: ExchangeProgress] = [:]
        /// The records of exchanges under way whose attempt is over, by number.
        var late: [Int: CallTrace.Exchange] = [:]
        /// The numbers of subrequests, which count for themselves and not for the attempt.
        var subrequests: Set<Int> = []
        /// The index of the record that ended last, among those that count for the attempt.
        var lastEnded: Int?
        var hedge = HedgeNote()

        mutating func endAttempt() {
            for record in records where record.outcome == .unfinished { late[record.number] = record }
            records.removeAll(keepingCapacity: true)
            progress.removeAll()
            subrequests.removeAll()
            (lastEnded, hedge) = (nil, HedgeNote())
        }

        /// Whether an exchange belongs to the current attempt.
        func has(_ entry: Entry) -> Bool {
            records.indices.contains(entry.index) && records[entry.index].number == entry.number
        }
    }

    /// The identity of the call.
    let identity: CallIdentity
    /// Measures the time since the call began.
    let stopwatch: Stopwatch
    private let observer: (any CallObserver)?
    private let state = Locked(State())

    init(_ identity: CallIdentity, stopwatch: Stopwatch, observer: (any CallObserver)?) {
        (self.identity, self.stopwatch, self.observer) = (identity, stopwatch, observer)
    }

    /// Begins the next attempt, and returns its number.
    func beginAttempt() -> Int {
        state.withLock { state in
            state.attempt += 1
            // Before the first attempt there is nothing to forget.
            if state.attempt > 1 { state.endAttempt() }
            return state.attempt
        }
    }

    /// Takes a number for the exchange that is prepared next.
    func takeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// The part that hedging had in the current attempt.
    var hedge: HedgeNote { state.withLock { $0.hedge } }

    /// Notes the result of a second send; nil when there is nothing to tell of.
    ///
    /// - Parameter isPossible: Whether the attempt could have been sent twice.
    func noteHedge(_ result: CallTrace.Hedge?, isPossible: Bool = false) {
        state.withLock { state in
            state.hedge.result = result ?? state.hedge.result
            if isPossible { state.hedge.isPossible = true }
        }
    }

    /// Notes that a budget has paid for the second send of an attempt.
    func noteHedgePaid(attempt: Int) {
        state.withLock { if $0.attempt == attempt { $0.hedge.isPaid = true } }
    }

    /// The number of the current or last attempt; 0 before the first.
    var attempt: Int { state.withLock { $0.attempt } }

    /// How many exchanges the current attempt has begun.
    var count: Int { state.withLock { $0.records.count } }

    /// The facts of an exchange that are known when it begins.
    struct Opening: Sendable {
        var role: CallTrace.Exchange.Role
        /// The number taken for it in advance; nil to take the next one.
        var number: Int?
        /// The attempt that it belongs to.
        let attempt: Int
        /// The number of the exchange that it continues; nil for none.
        var root: Int?
        /// Whether its effects count as the attempt's; a subrequest's do not.
        var countsForAttempt = true
        /// Whether it may still be under way when its attempt ends, like a losing send or an abandoned subrequest.
        var mayOutliveAttempt = false
        var redirects: CallTrace.Redirects?
    }

    /// Records a request that goes out.
    ///
    /// - Returns: Nil when the request's URL has no origin, so that it cannot go out.
    func begin(
        _ request: HttpRequest,
        _ opening: Opening,
        _ progress: ExchangeProgress,
        serviceOrigin: HttpOrigin
    ) -> Entry? {
        guard let summary = RequestSummary(request, serviceOrigin: serviceOrigin) else { return nil }
        let start = stopwatch.elapsed
        let (entry, record) = state.withLock { state in
            if opening.number == nil { state.lastNumber += 1 }
            let number = opening.number ?? state.lastNumber
            let record = CallTrace.Exchange(
                call: identity.id,
                number: number,
                root: opening.root ?? number,
                attempt: opening.attempt,
                role: opening.role,
                request: summary,
                tags: request.tags,
                start: start,
                duration: .zero,
                redirects: opening.redirects,
                outcome: .unfinished,
                delivery: .maybeExecuted
            )
            if !opening.countsForAttempt { state.subrequests.insert(number) }
            // If its attempt is over, the exchange gets a record, but no place in the next attempt.
            guard opening.attempt == state.attempt else {
                state.late[number] = record
                return (Entry(number: number, index: -1, progress: progress), record)
            }
            let entry = Entry(number: number, index: state.records.count, progress: progress)
            state.records.append(record)
            if opening.mayOutliveAttempt { state.progress[number] = progress }
            return (entry, record)
        }
        observer?.observe(.exchangeStarted(identity, record))
        return entry
    }

    /// The final record of an exchange that ends now; nil if its attempt is over, and it has ended before.
    func record(
        of entry: Entry,
        _ outcome: CallTrace.Exchange.Outcome,
        _ delivery: Delivery
    ) -> CallTrace.Exchange? {
        let now = stopwatch.elapsed
        let facts = entry.progress.ofThisSending(now)
        return state.withLock { state in
            guard state.has(entry) else {
                var late = state.late.removeValue(forKey: entry.number)
                late?.end(outcome, delivery, at: now, facts)
                return late
            }
            // Changed where it is, since a copy would need a block of memory.
            state.records[entry.index].end(outcome, delivery, at: now, facts)
            return state.records[entry.index]
        }
    }

    /// Records the end of an exchange, and returns its record; nil if its attempt is over, and it has ended before.
    func end(
        _ entry: Entry,
        _ outcome: CallTrace.Exchange.Outcome,
        _ delivery: Delivery
    ) -> CallTrace.Exchange? {
        let record = record(of: entry, outcome, delivery)
        if let record { end(entry, as: record) }
        return record
    }

    /// Records the end of an exchange.
    func end(_ entry: Entry, as record: CallTrace.Exchange) {
        state.withLock { state in
            // If not, its attempt is over, and has reported the exchange as still under way.
            guard state.has(entry) else { return }
            state.records[entry.index] = record
            if !state.progress.isEmpty { state.progress[entry.number] = nil }
            guard !state.subrequests.contains(record.root) else { return }
            // A losing send ends without an answer, perhaps after the winning one.
            let last = state.lastEnded.map { state.records[$0] }
            if record.status == nil, let last, last.root == record.root, last.status != nil { return }
            state.lastEnded = entry.index
        }
        observer?.observe(.exchangeEnded(identity, record))
    }

    /// All exchanges of the current attempt; an exchange still under way is counted as lasting until now.
    func exchanges() -> [CallTrace.Exchange] {
        let (records, progress) = state.withLock { ($0.records, $0.progress) }
        // Nearly always, all have ended.
        guard !progress.isEmpty else { return records }
        let now = stopwatch.elapsed
        return records.map { record in
            guard let progress = progress[record.number] else { return record }
            var record = record
            record.duration = now - record.start
            record.connectionWait = progress.ofThisSending(now).waited
            return record
        }
    }

    /// Whether an exchange is a subrequest, which does not count for the attempt.
    func isSubrequest(_ exchange: CallTrace.Exchange) -> Bool {
        state.withLock { $0.subrequests.contains(exchange.root) }
    }

    /// The exchange of the current attempt that ended last; nil when none has.
    var lastEnded: CallTrace.Exchange? {
        state.withLock { state in state.lastEnded.map { state.records[$0] } }
    }

    /// The most that the exchanges of the current attempt may have executed, and the request that represents them: one
    /// that must not be repeated if there is any, otherwise the latest.
    ///
    /// - Parameter excluded: The number of an exchange, or of a redirect hop, whose delivery is known from elsewhere;
    ///   nil for none.
    func delivery(
        besides excluded: Int? = nil
    ) -> (delivery: Delivery, request: RequestSummary?, mustNotBeRepeated: Bool) {
        state.withLock { state in
            var (delivery, speaker, mustNotBeRepeated) = (Delivery.notSent, CallTrace.Exchange?.none, false)
            for record in state.records where !state.subrequests.contains(record.root) {
                if record.number != excluded {
                    delivery = max(delivery, record.delivery)
                    mustNotBeRepeated = mustNotBeRepeated || record.mustNotBeRepeated
                }
                // A redirect hop and a hedge repeat their root's request.
                guard record.root == record.number else { continue }
                if let said = speaker, said.mustNotBeRepeated { continue }
                speaker = record
            }
            return (delivery, speaker?.request, mustNotBeRepeated)
        }
    }
}

extension CallTrace.Exchange {
    fileprivate mutating func end(
        _ outcome: Outcome,
        _ delivery: Delivery,
        at now: Duration,
        _ facts: (header: Duration?, waited: Duration, connection: Connection?)
    ) {
        connection = facts.connection
        duration = now - start
        (self.outcome, self.delivery, connectionWait) = (outcome, delivery, facts.waited)
        if status != nil { latency = facts.header ?? max(.zero, duration - facts.waited) }
    }

    fileprivate var mustNotBeRepeated: Bool { delivery == .maybeExecuted && !request.isIdempotent }
}
