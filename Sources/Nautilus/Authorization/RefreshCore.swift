/// The state that a coordinator's lock guards: the machine, the calls that wait for it, and the tasks it has started.
struct RefreshCore: Sendable {
    /// The work left to do when the lock has been released.
    enum Effect: Sendable {
        case resume([RefreshWaiter], Result<SealedGrant, RefreshError>)
        case pass(Waiter<Void>)
        case start(RefreshFlight, any SealedCredential, RefreshTasks)
        case cancel(RefreshTasks)
        case end(RefreshTasks)
        case set(RefreshAlarm)
        case stop(RefreshAlarm)
    }

    private(set) var machine: RefreshMachine
    /// The machine's grant, copied out: reading it is what happens most often.
    private(set) var current: SealedGrant?
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
        for waiter: Waiter<SealedGrant>,
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
