/// The exchanges of one call, a record each, kept where all that sends for the call can reach them: its own task, the
/// tasks of a hedge, the side requests of an interceptor.
struct ExchangeBook: Sendable {
    /// An exchange that is under way.
    struct Entry: Sendable {
        /// Its place among those of its attempt.
        fileprivate let index: Int
        fileprivate let record: CallTrace.Exchange
        fileprivate let progress: ExchangeProgress

        /// Its number in the call.
        var number: Int { record.number }
        /// The number of the exchange that it goes on with.
        var root: Int { record.root }
    }

    private struct State: Sendable {
        var lastNumber = 0
        var attempt = 0
        /// The exchanges of the current attempt, in the order of their sending.
        var records: [CallTrace.Exchange] = []
        /// The progress of those that are under way and may outlive the attempt, by number.
        var progress: [Int: ExchangeProgress] = [:]
        /// Those an interceptor has sent as side requests: they answer for themselves, not for the attempt.
        var apart: Set<Int> = []
        /// The place of the record that was the last to end of those that count for the attempt.
        var lastEnded: Int?
    }

    /// Which call it is.
    let identity: CallIdentity
    /// Runs since the call began.
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
            // There is nothing to forget before the first.
            if state.attempt > 1 {
                state.records.removeAll(keepingCapacity: true)
                state.progress.removeAll()
                state.apart.removeAll()
                state.lastEnded = nil
            }
            return state.attempt
        }
    }

    /// A number for the exchange that is prepared next.
    func takeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// The facts of an exchange that are known when it begins.
    struct Opening: Sendable {
        var role: CallTrace.Exchange.Role
        /// The number that was taken for it; nil for the next one.
        var number: Int?
        /// The attempt that it belongs to.
        let attempt: Int
        /// The exchange that it goes on with; nil for none.
        var root: Int?
        /// Whether its effect counts as the attempt's; a side request answers for itself.
        var countsForAttempt = true
        /// Whether it may be under way when its attempt ends: a send that has lost, a side request that was left behind.
        var mayOutliveAttempt = false
        var redirects: RedirectSummary?
    }

    /// Takes note of a request that goes out.
    ///
    /// - Returns: Nil when its URL has no origin, so that it cannot go out either.
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
            // An exchange of an attempt that is over has a record, and no place in the next one.
            guard opening.attempt == state.attempt else { return Entry(index: -1, record: record, progress: progress) }
            state.records.append(record)
            if opening.mayOutliveAttempt { state.progress[number] = progress }
            return Entry(index: state.records.count - 1, record: record, progress: progress)
        }
        observer?.observe(.exchangeStarted(identity, entry.record))
        return entry
    }

    /// The record of an exchange that has ended now.
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

    /// Takes note of how an exchange has ended, and returns its record.
    func end(_ entry: Entry, _ outcome: CallTrace.Exchange.Outcome, _ delivery: Delivery) -> CallTrace.Exchange {
        let record = record(of: entry, outcome, delivery)
        end(entry, as: record)
        return record
    }

    /// Takes note of how an exchange has ended.
    func end(_ entry: Entry, as record: CallTrace.Exchange) {
        state.withLock { state in
            // Otherwise its attempt is over, and has reported it as still under way.
            guard state.records.indices.contains(entry.index), state.records[entry.index].number == entry.number else {
                return
            }
            state.records[entry.index] = record
            if !state.progress.isEmpty { state.progress[entry.number] = nil }
            guard !state.apart.contains(record.root) else { return }
            // A send that has lost ends without an answer, perhaps after the one that has won.
            let last = state.lastEnded.map { state.records[$0] }
            if record.status == nil, let last, last.root == record.root, last.status != nil { return }
            state.lastEnded = entry.index
        }
        observer?.observe(.exchangeEnded(identity, record))
    }

    /// All exchanges of the current attempt; one that is still under way has lasted until now.
    func exchanges() -> [CallTrace.Exchange] {
        let (records, progress) = state.withLock { ($0.records, $0.progress) }
        // Nearly always all have ended.
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

    /// Whether it is a side request, which answers for itself.
    func isApart(_ exchange: CallTrace.Exchange) -> Bool {
        state.withLock { $0.apart.contains(exchange.root) }
    }

    /// The exchange of the current attempt that was the last to end; nil when none has.
    var lastEnded: CallTrace.Exchange? {
        state.withLock { state in state.lastEnded.map { state.records[$0] } }
    }

    /// The most that the exchanges of the current attempt may have done, and the request that decides it: of several
    /// the one that must not be repeated, else the latest.
    ///
    /// - Parameter excluded: The exchange whose delivery is known from elsewhere, with its redirects; nil for none.
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
                // A hop repeats its root's request, and a hedge is its root again.
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

/// How far an exchange has come: known to the transport alone, and needed by the call's timers and records.
struct ExchangeProgress: Sendable {
    private struct State {
        /// When the wait for a connection that is on began; nil when none is.
        var waitStart: Duration?
        /// The earlier waits for a connection, added up.
        var waited = Duration.zero
        /// When the request was handed to the transport.
        var sendingStart: Duration
        /// The same, up to the sending.
        var waitedBefore = Duration.zero
        /// How long the answer's header took, without the wait for a connection; nil while it has not come.
        var header: Duration?
        /// How it has come to its connection; nil while that is not reported.
        var connection: CallTrace.Exchange.Connection?
        /// Whether the transport is to tell when it writes, and has not.
        var isConnecting = false
        /// When a part of the body was sent last; nil while none has been.
        var lastPart: Duration?
        var isOutOfTime = false
    }

    private let stopwatch: Stopwatch
    private let start: Duration
    private let state: Locked<State>

    /// - Parameter stopwatch: The call's.
    init(_ stopwatch: Stopwatch) {
        self.stopwatch = stopwatch
        self.start = stopwatch.elapsed
        self.state = Locked(State(sendingStart: start))
    }

    /// Another request is handed to the transport: the next hop of a redirect.
    func beginSending() {
        let now = stopwatch.elapsed
        state.withLock { state in
            (state.sendingStart, state.header, state.waitedBefore) = (now, nil, state.waited)
            (state.connection, state.isConnecting) = (nil, false)
        }
    }

    func beginWaiting() {
        let now = stopwatch.elapsed
        state.withLock { $0.waitStart = now }
    }

    func endWaiting() {
        // The clock may be the user's own: it is not asked under the lock.
        let now = stopwatch.elapsed
        state.withLock { state in
            state.waited += state.waitStart.map { now - $0 } ?? .zero
            state.waitStart = nil
        }
    }

    func beginConnecting() {
        state.withLock { $0.isConnecting = true }
    }

    func noteSending() {
        state.withLock { $0.isConnecting = false }
    }

    /// Whether it is certain that nothing of the request that was handed to the transport last has been written.
    var isUnsent: Bool { state.withLock { $0.isConnecting } }

    func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        state.withLock { $0.connection = connection }
    }

    func noteHeader() {
        let now = stopwatch.elapsed
        state.withLock { state in
            guard state.header == nil else { return }
            state.header = max(.zero, now - state.sendingStart - (state.waited - state.waitedBefore))
        }
    }

    /// A part of the body has been sent.
    func notePart() {
        let now = stopwatch.elapsed
        state.withLock { $0.lastPart = now }
    }

    /// The attempt's timeout has passed.
    func noteTimeout() {
        state.withLock { $0.isOutOfTime = true }
    }

    /// Whether the attempt's timeout has ended the exchange.
    var isOutOfTime: Bool { state.withLock { $0.isOutOfTime } }

    /// The time that the timeout does not count: the wait for a connection in all, one that is still on included, or, where
    /// that is more, all until a part of the body was sent last.
    var uncounted: Duration {
        let state = state.withLock { $0 }
        let waited = state.waited + (state.waitStart.map { stopwatch.elapsed - $0 } ?? .zero)
        return max(waited, state.lastPart.map { $0 - start } ?? .zero)
    }

    /// The last request that was handed to the transport: when its answer's header came and how it got its
    /// connection, nil when not reported, and how long it waited for one.
    ///
    /// - Parameter now: The time since the call began.
    func ofThisSending(
        _ now: Duration
    ) -> (header: Duration?, waited: Duration, connection: CallTrace.Exchange.Connection?) {
        state.withLock { state in
            let current = state.waitStart.map { now - $0 } ?? .zero
            return (state.header, state.waited + current - state.waitedBefore, state.connection)
        }
    }
}
