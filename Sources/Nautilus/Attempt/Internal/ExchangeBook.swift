/// A record of each exchange of one call, accessible to everything that sends for the call: its own task, the tasks of
/// a hedge, the side requests of an interceptor.
struct ExchangeBook: Sendable {
    /// An exchange under way.
    struct Entry: Sendable {
        /// Its index among the exchanges of its attempt.
        fileprivate let index: Int
        fileprivate let record: CallTrace.Exchange
        fileprivate let progress: ExchangeProgress

        /// Its number in the call.
        var number: Int { record.number }
        /// The number of the exchange that it continues.
        var root: Int { record.root }
    }

    private struct State: Sendable {
        var lastNumber = 0
        var attempt = 0
        /// The exchanges of the current attempt, in the order in which they were sent.
        var records: [CallTrace.Exchange] = []
        /// The progress of exchanges under way that may outlive the attempt, by number.
        var progress: [Int: ExchangeProgress] = [:]
        /// The numbers of side requests, which count for themselves and not for the attempt.
        var apart: Set<Int> = []
        /// The index of the record that ended last, among those that count for the attempt.
        var lastEnded: Int?
        /// The answers of the current attempt that have been decoded; with a hedge there are two.
        var answers = DecodedAnswerList()
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
            if state.attempt > 1 {
                state.records.removeAll(keepingCapacity: true)
                state.progress.removeAll()
                state.apart.removeAll()
                state.lastEnded = nil
                state.answers = DecodedAnswerList()
            }
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

    /// The facts of an exchange that are known when it begins.
    struct Opening: Sendable {
        var role: CallTrace.Exchange.Role
        /// The number taken for it in advance; nil to take the next one.
        var number: Int?
        /// The attempt that it belongs to.
        let attempt: Int
        /// The number of the exchange that it continues; nil for none.
        var root: Int?
        /// Whether its effects count as the attempt's; a side request's do not.
        var countsForAttempt = true
        /// Whether it may still be under way when its attempt ends, like a losing send or an abandoned side request.
        var mayOutliveAttempt = false
        var redirects: RedirectSummary?
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
        let entry = state.withLock { state in
            if opening.number == nil { state.lastNumber += 1 }
            let number = opening.number ?? state.lastNumber
            let record = CallTrace.Exchange(
                call: identity.id,
                number: number,
                root: opening.root ?? number,
                attempt: opening.attempt,
                role: opening.role,
                request: summary,
                start: start,
                duration: .zero,
                redirects: opening.redirects,
                outcome: .unfinished,
                delivery: .maybeExecuted
            )
            if !opening.countsForAttempt { state.apart.insert(number) }
            // If its attempt is over, the exchange gets a record, but no place in the next attempt.
            guard opening.attempt == state.attempt else { return Entry(index: -1, record: record, progress: progress) }
            state.records.append(record)
            if opening.mayOutliveAttempt { state.progress[number] = progress }
            return Entry(index: state.records.count - 1, record: record, progress: progress)
        }
        observer?.observe(.exchangeStarted(identity, entry.record))
        return entry
    }

    /// The final record of an exchange that ends now.
    func record(
        of entry: Entry,
        _ outcome: CallTrace.Exchange.Outcome,
        _ delivery: Delivery
    ) -> CallTrace.Exchange {
        var record = entry.record
        let now = stopwatch.elapsed
        let (header, waited, connection) = entry.progress.ofThisSending(now)
        record.connection = connection
        record.duration = now - record.start
        (record.outcome, record.delivery, record.connectionWait) = (outcome, delivery, waited)
        if record.status != nil { record.latency = header ?? max(.zero, record.duration - waited) }
        return record
    }

    /// Records the end of an exchange, and returns its record.
    func end(_ entry: Entry, _ outcome: CallTrace.Exchange.Outcome, _ delivery: Delivery) -> CallTrace.Exchange {
        let record = record(of: entry, outcome, delivery)
        end(entry, as: record)
        return record
    }

    /// Records the end of an exchange.
    func end(_ entry: Entry, as record: CallTrace.Exchange) {
        state.withLock { state in
            // If not, its attempt is over, and has reported the exchange as still under way.
            guard state.records.indices.contains(entry.index), state.records[entry.index].number == entry.number else {
                return
            }
            state.records[entry.index] = record
            if !state.progress.isEmpty { state.progress[entry.number] = nil }
            guard !state.apart.contains(record.root) else { return }
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

    /// Keeps an answer of the current attempt, with its result.
    func note(_ answer: DecodedAnswer) {
        state.withLock { $0.answers.append(answer) }
    }

    /// The first decoded answer of the current attempt that matches; nil for none.
    func decodedAnswer(where matches: (DecodedAnswer) -> Bool) -> DecodedAnswer? {
        state.withLock { $0.answers.first(where: matches) }
    }

    /// Whether an exchange is a side request, which does not count for the attempt.
    func isApart(_ exchange: CallTrace.Exchange) -> Bool {
        state.withLock { $0.apart.contains(exchange.root) }
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
            for record in state.records where !state.apart.contains(record.root) {
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
    fileprivate var mustNotBeRepeated: Bool { delivery == .maybeExecuted && !request.isIdempotent }
}
