/// The state that a coordinator's lock guards: the machine, the calls that wait for it, and the tasks it has started.
struct RefreshCore: Sendable {
    /// The work left to do when the lock has been released.
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
    /// The machine's grant, copied out: reading it is what happens most often.
    private(set) var current: ErasedGrant?
    var waiters = WaitingLine<RefreshWaiter>()
    var outbox = Outbox<RefreshMachine.Announcement>()
    private var tasks: [Int: RefreshTasks] = [:]
    /// The alarm that starts the refresh that calls wait for during a cool-down; nil when none do.
    private var alarm: RefreshAlarm?

    private static let lastCoordinator = Locked(0)

    /// How many refreshes have not ended, those included that no call waits for.
    var runningCount: Int { tasks.count }

    init(limits: RefreshLimits) {
        machine = RefreshMachine(limits: limits)
        machine.mark.coordinator = Self.lastCoordinator.withLock { last in
            last += 1
            return last
        }
    }

    /// Lets a call ask, and wait if it has to.
    mutating func ask(
        _ question: RefreshMachine.Question,
        for waiter: Waiter<ErasedGrant>,
        remaining: Duration?,
        at now: Duration
    ) -> [Effect] {
        let patience = RefreshPatience(machine.limits, remaining: remaining, machine.state, at: now)
        return handle(.ask(question), at: now, asked: .call(waiter, patience))
    }

    /// Lets `waiter` wait for the end of a refresh, while there is one that `holds`.
    mutating func wait(_ waiter: Waiter<Void>, while holds: (RefreshState) -> Bool) -> [Effect] {
        guard holds(machine.state) else { return [.pass(waiter)] }
        waiters.append(.retry(waiter))
        return []
    }

    /// Handles an input that is not a call's question.
    mutating func handle(_ input: RefreshMachine.Input, at now: Duration) -> [Effect] {
        handle(input, at: now, asked: nil)
    }

    /// A refresh has ended: handles how, and lets go of its tasks.
    mutating func handle(_ input: RefreshMachine.Input, endOf flight: RefreshFlight, at now: Duration) -> [Effect] {
        let effects = handle(input, at: now)
        guard let ended = tasks.removeValue(forKey: flight.id) else { return effects }
        return effects + [.end(ended)]
    }

    /// The time of an alarm has come.
    mutating func ring(_ alarm: RefreshAlarm, at now: Duration) -> [Effect] {
        // Another one has taken its place.
        guard alarm === self.alarm else { return [] }
        self.alarm = nil
        // All have been cancelled meanwhile.
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

    /// Has the next refresh start in time for the calls that wait for it.
    private mutating func setAlarm() -> [Effect] {
        let start = waiters.count > 0 ? machine.nextStart : nil
        guard start != alarm?.time else { return [] }
        let stopped = alarm.map { [Effect.stop($0)] } ?? []
        alarm = start.map(RefreshAlarm.init)
        return stopped + (alarm.map { [.set($0)] } ?? [])
    }
}

/// The running side of one refresh: its task and its timer, which may be cancelled before they have been handed in.
final class RefreshTasks: Sendable {
    private struct State {
        var refresh: Task<Void, Never>?
        var timer: Task<Void, Never>?
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Locked(State())

    /// Takes charge of the two tasks, and carries out the requests made of them meanwhile.
    func handIn(refresh: Task<Void, Never>, timer: Task<Void, Never>) {
        let (isCancelled, hasEnded) = state.withLock { state in
            (state.refresh, state.timer) = (refresh, timer)
            return (state.isCancelled, state.hasEnded)
        }
        if isCancelled { refresh.cancel() }
        if isCancelled || hasEnded { timer.cancel() }
    }

    /// Cancels the refresh: its result is not wanted any more.
    func cancel() {
        let (refresh, timer) = state.withLock { state in
            state.isCancelled = true
            return (state.refresh, state.timer)
        }
        refresh?.cancel()
        timer?.cancel()
    }

    /// The refresh has ended, so its timer is of no use.
    func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            return state.timer
        }
        timer?.cancel()
    }
}

/// Starts the refresh that calls wait for during a cool-down; it may be stopped before its timer has been handed in.
final class RefreshAlarm: Sendable {
    /// When it rings, on the coordinator's stopwatch.
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

    /// It has become needless: the time is another one, or none.
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

    /// The refresh is over.
    func resume(with result: Result<ErasedGrant, RefreshError>) {
        switch self {
        case .call(let waiter, _): waiter.resume(with: result)
        case .retry(let waiter): waiter.resume()
        }
    }

    /// Whether it goes on waiting, after as many failures in a row, for the refresh that starts at `start`.
    func waits(until start: Duration, failures: Int) -> Bool {
        guard case .call(_, let patience) = self else { return false }
        return start < patience.end && failures <= patience.maxFailures
    }
}

/// For how long a call waits for the next refresh to start.
struct RefreshPatience: Sendable {
    /// On the coordinator's stopwatch: a refresh that would start later is not waited for.
    let end: Duration
    /// The most failures in a row after which it goes on waiting.
    let maxFailures: Int

    /// The patience of a call that asks now.
    ///
    /// - Parameters:
    ///   - remaining: The time until the call's deadline; nil when it has none.
    ///   - state: The coordinator's state, which says how many failures are none of this call's.
    init(_ limits: RefreshLimits, remaining: Duration?, _ state: RefreshState, at now: Duration) {
        end = now + (remaining ?? limits.patience).clampedToCentury
        // A cool-down that is on is the first one that it waits out.
        let isCoolingDown = if case .coolingDown = state { 1 } else { 0 }
        maxFailures = state.failures - isCoolingDown + limits.maxCoolDowns
    }
}
