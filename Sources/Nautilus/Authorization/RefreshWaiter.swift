/// A task that waits for the refresh in flight.
enum RefreshWaiter: Identifiable, Sendable {
    /// A call, which wants the credential.
    case call(Waiter<SealedGrant>)
    /// A retry at the gate, which only wants the refresh to be over.
    case retry(Waiter<Void>)

    var id: WaiterTicket {
        switch self {
        case .call(let waiter): waiter.id
        case .retry(let waiter): waiter.id
        }
    }

    /// The refresh is over.
    func resume(with result: Result<SealedGrant, RefreshError>) {
        switch self {
        case .call(let waiter): waiter.resume(with: result)
        case .retry(let waiter): waiter.resume()
        }
    }
}
