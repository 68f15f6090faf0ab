/// What a coordinator's lock guards: the machine, those who wait for it, and what it has set going.
struct RefreshCore: Sendable {
    /// What is left to do when the lock has been released.
    enum Effect: Sendable {
        case resume([RefreshWaiter], Result<SealedGrant, RefreshError>)
        case pass(Waiter<Void>)
        case start(RefreshFlight, any SealedCredential, RefreshTasks)
        case cancel(RefreshTasks)
        case end(RefreshTasks)
    }

    private(set) var machine: RefreshMachine
    /// The machine's grant, copied out: reading it is what happens most often.
    private(set) var current: SealedGrant?
    var waiters = WaitingLine<RefreshWaiter>()
    var outbox = Outbox<RefreshMachine.Announcement>()
    private var tasks: [Int: RefreshTasks] = [:]

    /// How many refreshes have not ended, those included that nobody waits for.
    var runningCount: Int { tasks.count }

    init(limits: RefreshLimits) {
        machine = RefreshMachine(limits: limits)
    }

    /// Lets `waiter` ask, and wait if it has to.
    mutating func ask(
        _ question: RefreshMachine.Question,
        for waiter: RefreshWaiter,
        at now: Duration
    ) -> [Effect] {
        handle(.ask(question), at: now) { core, result in
            guard let result else {
                core.waiters.append(waiter)
                return nil
            }
            return .resume([waiter], result)
        }
    }

    /// Lets `waiter` wait for the end of a refresh, while there is one that `holds`.
    mutating func wait(_ waiter: Waiter<Void>, while holds: (RefreshState) -> Bool) -> [Effect] {
        guard holds(machine.state) else { return [.pass(waiter)] }
        waiters.append(.retry(waiter))
        return []
    }

    /// Handles what is nobody's question.
    mutating func handle(_ input: RefreshMachine.Input, at now: Duration) -> [Effect] {
        handle(input, at: now) { _, _ in nil }
    }

    /// A refresh has ended: handles how, and lets go of its tasks.
    mutating func handle(_ input: RefreshMachine.Input, endOf flight: RefreshFlight, at now: Duration) -> [Effect] {
        let effects = handle(input, at: now)
        guard let ended = tasks.removeValue(forKey: flight.id) else { return effects }
        return effects + [.end(ended)]
    }

    private mutating func handle(
        _ input: RefreshMachine.Input,
        at now: Duration,
        answer: (inout RefreshCore, Result<SealedGrant, RefreshError>?) -> Effect?
    ) -> [Effect] {
        var effects: [Effect] = []
        let actions = machine.handle(input, at: now)
        current = machine.state.session?.grant
        for action in actions {
            switch action {
            case .answer(let result):
                if let effect = answer(&self, result) { effects.append(effect) }
            case .wait:
                if let effect = answer(&self, nil) { effects.append(effect) }
            case .resumeWaiters(let result):
                effects.append(.resume(waiters.removeAll(), result))
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
        return effects
    }
}
