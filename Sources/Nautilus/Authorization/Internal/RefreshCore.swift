/// The state that a coordinator's lock guards: the machine, the calls that wait for it, and the tasks it has started.
struct RefreshCore: Sendable {
    /// Work to be done after the lock has been released.
    enum Effect: Sendable {
        case resume([RefreshWaiter], Result<ErasedGrant, RefreshError>)
        case pass(Waiter<Void>)
        case start(RefreshFlight, any ErasedCredential, RefreshTasks)
        case cancel(RefreshTasks)
        case end(RefreshTasks)
        case set(RefreshAlarm)
        case stop(RefreshAlarm)
    }

    private(set) var machine: RefreshMachine
    /// A copy of the machine's grant, since reading it is the most frequent operation.
    private(set) var current: ErasedGrant?
    var waiters = WaitingLine<RefreshWaiter>()
    var outbox = Outbox<RefreshMachine.Announcement>()
    private var tasks: [Int: RefreshTasks] = [:]
    /// The alarm that starts the refresh calls wait for during a cool-down; nil when no call waits.
    private var alarm: RefreshAlarm?

    private static let lastCoordinator = Locked(0)

    /// How many refreshes have not ended, including those that no call waits for.
    var runningCount: Int { tasks.count }

    init(limits: RefreshLimits) {
        machine = RefreshMachine(limits: limits)
        machine.mark.coordinator = Self.lastCoordinator.withLock { last in
            last += 1
            return last
        }
    }

    /// Asks on behalf of a call, which waits if it has to.
    mutating func ask(
        _ question: RefreshMachine.Question,
        for waiter: Waiter<ErasedGrant>,
        remaining: Duration?,
        at now: Duration
    ) -> [Effect] {
        let patience = RefreshPatience(machine.limits, remaining: remaining, machine.state, at: now)
        return handle(.ask(question), at: now, asked: .call(waiter, patience))
    }

    /// Lets `waiter` wait for the end of a refresh, as long as the refresh `holds` it back.
    mutating func wait(_ waiter: Waiter<Void>, while holds: (RefreshState) -> Bool) -> [Effect] {
        guard holds(machine.state) else { return [.pass(waiter)] }
        waiters.append(.retry(waiter))
        return []
    }

    /// Handles an input that is not a call's question.
    mutating func handle(_ input: RefreshMachine.Input, at now: Duration) -> [Effect] {
        handle(input, at: now, asked: nil)
    }

    /// Handles how a refresh has ended, and releases its tasks.
    mutating func handle(_ input: RefreshMachine.Input, endOf flight: RefreshFlight, at now: Duration) -> [Effect] {
        let effects = handle(input, at: now)
        guard let ended = tasks.removeValue(forKey: flight.id) else { return effects }
        return effects + [.end(ended)]
    }

    /// Handles an alarm that rings.
    mutating func ring(_ alarm: RefreshAlarm, at now: Duration) -> [Effect] {
        // Another alarm has replaced it.
        guard alarm === self.alarm else { return [] }
        self.alarm = nil
        // All waiting calls have been cancelled meanwhile.
        guard waiters.count > 0 else { return [] }
        return handle(.coolDownEnded, at: now)
    }

    private mutating func handle(
        _ input: RefreshMachine.Input,
        at now: Duration,
        asked waiter: RefreshWaiter?
    ) -> [Effect] {
        var effects: [Effect] = []
        let actions = machine.handle(input, at: now)
        current = machine.state.session?.grant
        for action in actions {
            switch action {
            case .answer(let result):
                if let waiter { effects.append(.resume([waiter], result)) }
            case .wait:
                if let waiter { waiters.append(waiter) }
            case .waitOut(let error, let start):
                guard let waiter else { break }
                if waiter.waits(until: start, failures: machine.state.failures) {
                    waiters.append(waiter)
                } else {
                    effects.append(.resume([waiter], .failure(error)))
                }
            case .resumeWaiters(let result):
                effects.append(.resume(waiters.removeAll(), result))
            case .failWaiters(let error, let start?):
                let failures = machine.state.failures
                let failed = waiters.remove { !$0.waits(until: start, failures: failures) }
                effects.append(.resume(failed, .failure(error)))
            case .failWaiters(let error, nil):
                effects.append(.resume(waiters.removeAll(), .failure(error)))
            case .startRefresh(let flight, let credential):
                let running = RefreshTasks()
                tasks[flight.id] = running
                effects.append(.start(flight, credential, running))
            case .cancelRefresh(let flight):
                if let running = tasks[flight.id] { effects.append(.cancel(running)) }
            case .announce(let announcement):
                outbox.add(announcement)
            }
        }
        return effects + setAlarm()
    }

    /// Sets the alarm for the next refresh if calls wait for it, and stops it otherwise.
    private mutating func setAlarm() -> [Effect] {
        let start = waiters.count > 0 ? machine.nextStart : nil
        guard start != alarm?.time else { return [] }
        let stopped = alarm.map { [Effect.stop($0)] } ?? []
        alarm = start.map(RefreshAlarm.init)
        return stopped + (alarm.map { [.set($0)] } ?? [])
    }
}

/// The tasks of one refresh, its work and its timer, which may be cancelled before they have been handed in.
final class RefreshTasks: Sendable {
    private struct State {
        var refresh: Task<Void, Never>?
        var timer: Task<Void, Never>?
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Locked(State())

    /// Takes charge of the two tasks, and applies any cancellation or end that came before them.
    func handIn(refresh: Task<Void, Never>, timer: Task<Void, Never>) {
        let (isCancelled, hasEnded) = state.withLock { state in
            (state.refresh, state.timer) = (refresh, timer)
            return (state.isCancelled, state.hasEnded)
        }
        if isCancelled { refresh.cancel() }
        if isCancelled || hasEnded { timer.cancel() }
    }

    /// Cancels the refresh: its result is no longer wanted.
    func cancel() {
        let (refresh, timer) = state.withLock { state in
            state.isCancelled = true
            return (state.refresh, state.timer)
        }
        refresh?.cancel()
        timer?.cancel()
    }

    /// Notes that the refresh has ended, and cancels its timer.
    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            return state.timer
        }
        timer?.cancel()
    }
}

/// Starts the refresh that calls wait for during a cool-down; it may be stopped before its timer is handed in.
final class RefreshAlarm: Sendable {
    /// When the alarm rings, on the coordinator's stopwatch.
    let time: Duration
    private let state = Locked<(timer: Task<Void, Never>?, isStopped: Bool)>((nil, false))

    init(time: Duration) {
        self.time = time
    }

    /// Takes charge of the timer.
    func handIn(_ timer: Task<Void, Never>) {
        let isStopped = state.withLock { state in
            state.timer = timer
            return state.isStopped
        }
        if isStopped { timer.cancel() }
    }

    /// Stops the alarm: the refresh is due at another time, or not at all.
    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer
        }
        timer?.cancel()
    }
}

/// A task that waits for a refresh.
enum RefreshWaiter: Identifiable, Sendable {
    /// A call, which wants the credential, and may wait for the refresh that follows a failed one.
    case call(Waiter<ErasedGrant>, RefreshPatience)
    /// A retry at the gate, which only wants the refresh in flight to be over.
    case retry(Waiter<Void>)

    var id: WaiterTicket {
        switch self {
        case .call(let waiter, _): waiter.id
        case .retry(let waiter): waiter.id
        }
    }

    /// Resumes the task when the refresh is over; a retry needs no result.
    func resume(with result: Result<ErasedGrant, RefreshError>) {
        switch self {
        case .call(let waiter, _): waiter.resume(with: result)
        case .retry(let waiter): waiter.resume()
        }
    }

    /// Whether it keeps waiting for the refresh that begins at `start`, after this many `failures` in a row.
    func waits(until start: Duration, failures: Int) -> Bool {
        guard case .call(_, let patience) = self else { return false }
        return start < patience.end && failures <= patience.maxFailures
    }
}

/// How long a call waits for the next refresh to start.
struct RefreshPatience: Sendable {
    /// The end of the wait, on the coordinator's stopwatch; the call does not wait for a refresh that starts later.
    let end: Duration
    /// The most failures in a row after which the call still waits.
    let maxFailures: Int

    /// Creates the patience of a call that asks now.
    ///
    /// - Parameters:
    ///   - remaining: The time until the call's deadline; nil when it has none.
    ///   - state: The coordinator's state; failures that it has counted already are not charged to this call.
    init(_ limits: RefreshLimits, remaining: Duration?, _ state: RefreshState, at now: Duration) {
        end = now + (remaining ?? limits.patience).clampedToCentury
        // A cool-down in progress counts as the first one that the call waits out.
        let isCoolingDown = if case .coolingDown = state { 1 } else { 0 }
        maxFailures = state.failures - isCoolingDown + limits.maxCoolDowns
    }
}
