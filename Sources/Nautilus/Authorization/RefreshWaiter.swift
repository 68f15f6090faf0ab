/// A task that waits for the refresh in flight.
enum RefreshWaiter: Sendable {
    /// A call, which wants the credential.
    case call(CheckedContinuation<SealedGrant, any Error>)
    /// A retry at the gate, which only wants the refresh to be over.
    case retry(CheckedContinuation<Void, any Error>)

    /// The refresh is over.
    func resume(with result: Result<SealedGrant, RefreshError>) {
        switch self {
        case .call(let continuation): continuation.resume(with: result)
        case .retry(let continuation): continuation.resume()
        }
    }

    /// The waiting task has been cancelled.
    func cancel() {
        switch self {
        case .call(let continuation): continuation.resume(throwing: CancellationError())
        case .retry(let continuation): continuation.resume(throwing: CancellationError())
        }
    }
}

/// Those who wait for the refresh in flight.
struct RefreshWaiters: Sendable {
    private var waiting: [Int: RefreshWaiter] = [:]
    private var lastTicket = 0

    /// How many wait.
    var count: Int { waiting.count }

    /// A ticket under which to wait, and to leave again.
    mutating func takeTicket() -> Int {
        lastTicket += 1
        return lastTicket
    }

    mutating func add(_ waiter: RefreshWaiter, ticket: Int) {
        waiting[ticket] = waiter
    }

    /// Takes out one waiter; nil when it is not, or no longer, waiting.
    mutating func remove(ticket: Int) -> RefreshWaiter? {
        waiting.removeValue(forKey: ticket)
    }

    /// Takes out all waiters, in the order in which they came, so that runs can be reproduced.
    mutating func removeAll() -> [RefreshWaiter] {
        defer { waiting.removeAll() }
        return waiting.sorted { $0.key < $1.key }.map(\.value)
    }
}
