/// The state that a coordinator's lock guards: the machine, the calls that wait for it, and the tasks it has started.
struct GuardedRefresh: Sendable {
    private(set) var machine: RefreshMachine
    /// A copy of the machine's versioned credential, since reading it is the most frequent operation.
    private(set) var current: ErasedVersionedCredential?
    var waiters = WaitQueue<RefreshWaiter>()
    var outbox = Outbox<RefreshMachine.Announcement>()
    /// The tasks of each refresh that has not ended, by its number; of some, no call waits for the result.
    var tasks: [Int: RefreshTasks] = [:]
    /// The alarm that starts the refresh calls wait for during a cool-down; nil when no call waits.
    var alarm: RefreshAlarm?

    init(limits: RefreshLimits, onLook: @escaping @Sendable () -> Void = {}) {
        machine = RefreshMachine(limits: limits, onLook: onLook)
    }

    /// Gives the machine an input, and returns what it asks for.
    mutating func handle(_ input: RefreshMachine.Input, at now: Duration) -> [RefreshMachine.Action] {
        defer { current = machine.state.held?.versioned }
        return machine.handle(input, at: now)
    }

    /// Lets `waiter` wait for the end of a refresh, as long as the refresh `holds` it back.
    ///
    /// - Returns: False if it does not, and the waiter may go on.
    mutating func wait(_ waiter: Waiter<Void>, while holds: (RefreshState) -> Bool) -> Bool {
        guard holds(machine.state) else { return false }
        waiters.append(.retry(waiter))
        return true
    }

    /// Whether `alarm`, which rings, is the present one, and calls still wait for what it starts.
    mutating func takeAlarm(_ alarm: RefreshAlarm) -> Bool {
        // Otherwise another alarm has replaced it.
        guard alarm === self.alarm else { return false }
        self.alarm = nil
        // All waiting calls may have been cancelled meanwhile.
        return waiters.count > 0
    }
}

/// A task that may be cancelled before it has been handed in.
private final class LateTask: Sendable {
    private let state = Locked<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

    func handIn(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

/// The tasks of one refresh, its work and its timer.
struct RefreshTasks: Sendable {
    private let refresh = LateTask()
    private let timer = LateTask()

    /// Takes over the two tasks, and applies any cancellation or end that came before them.
    func handIn(refresh: Task<Void, Never>, timer: Task<Void, Never>) {
        self.refresh.handIn(refresh)
        self.timer.handIn(timer)
    }

    /// Cancels the refresh: its result is no longer wanted.
    func cancel() {
        refresh.cancel()
        timer.cancel()
    }

    /// Notes that the refresh has ended, and cancels its timer.
    func end() { timer.cancel() }
}

/// Starts the refresh that calls wait for during a cool-down.
final class RefreshAlarm: Sendable {
    /// When the alarm rings, on the coordinator's stopwatch.
    let time: Duration
    private let timer = LateTask()

    init(time: Duration) {
        self.time = time
    }

    /// Takes over the timer.
    func handIn(_ timer: Task<Void, Never>) { self.timer.handIn(timer) }

    /// Stops the alarm: the refresh is due at another time, or not at all.
    func stop() { timer.cancel() }
}

/// A task that waits for a refresh.
enum RefreshWaiter: Identifiable, Sendable {
    /// A call, which wants the credential, and may wait for the refresh that follows a failed one.
    case call(Waiter<ErasedVersionedCredential>, RefreshWaitLimit)
    /// A retry at the gate, which only wants the refresh in flight to be over.
    case retry(Waiter<Void>)

    var id: WaiterTicket {
        switch self {
        case .call(let waiter, _): waiter.id
        case .retry(let waiter): waiter.id
        }
    }

    /// Resumes the task when the refresh is over; a retry needs no result.
    func resume(with result: Result<ErasedVersionedCredential, RefreshError>) {
        switch self {
        case .call(let waiter, _): waiter.resume(with: result)
        case .retry(let waiter): waiter.resume()
        }
    }

    /// Whether it keeps waiting for the refresh that begins at `start`, after this many `failures` in a row.
    func waits(until start: Duration, failures: Int) -> Bool {
        guard case .call(_, let limit) = self else { return false }
        return start < limit.end && failures <= limit.maxFailures
    }
}

/// How long a call waits for the next refresh to start.
struct RefreshWaitLimit: Sendable {
    /// The end of the wait, on the coordinator's stopwatch; the call does not wait for a refresh that starts later.
    let end: Duration
    /// The most failures in a row after which the call still waits.
    let maxFailures: Int

    /// Creates the limit of a call that asks now.
    ///
    /// - Parameters:
    ///   - remaining: The time until the call's deadline; nil when it has none.
    ///   - state: The coordinator's state; failures that it has counted already do not count for this call.
    init(_ limits: RefreshLimits, remaining: Duration?, _ state: RefreshState, at now: Duration) {
        end = now + (remaining ?? limits.maxWait).clampedToCentury
        // A cool-down in progress counts as the first one that the call waits out.
        let isCoolingDown = if case .coolingDown = state { 1 } else { 0 }
        maxFailures = state.failures - isCoolingDown + limits.maxCoolDowns
    }
}
