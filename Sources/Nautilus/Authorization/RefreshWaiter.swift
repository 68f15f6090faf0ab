/// A task that waits for a refresh.
enum RefreshWaiter: Identifiable, Sendable {
    /// A call, which wants the credential, and may wait for the refresh that follows a failed one.
    case call(Waiter<SealedGrant>, RefreshPatience)
    /// A retry at the gate, which only wants the refresh in flight to be over.
    case retry(Waiter<Void>)

    var id: WaiterTicket {
        switch self {
        case .call(let waiter, _): waiter.id
        case .retry(let waiter): waiter.id
        }
    }

    /// The refresh is over.
    func resume(with result: Result<SealedGrant, RefreshError>) {
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
        end = now + (remaining ?? limits.patience).addable
        // A cool-down that is on is the first one that it waits out.
        let isCoolingDown = if case .coolingDown = state { 1 } else { 0 }
        maxFailures = state.failures - isCoolingDown + limits.maxCoolDowns
    }
}
