/// Sees what an exchange carries in the end: the retrier stamps its credential further in than any interceptor looks.
final class CredentialWatch: Sendable {
    private struct State {
        var hasCredential = false
        var hasChanged = false
    }

    /// The innermost watch of the current task; nil when nobody needs to know.
    @TaskLocal static var current: CredentialWatch?

    private let outer = CredentialWatch.current
    private let accounts: CacheAccounts
    private let partition: CachePartition
    private let onCredential: @Sendable () -> Void
    private let owner: ObjectIdentifier?
    private let state = Locked(State())

    /// A watch inside the current one.
    ///
    /// - Parameters:
    ///   - accounts: How accounts are told apart.
    ///   - partition: Whose answer it was meant to be before it was stamped.
    ///   - owner: Whose exchange it is; nil when nobody asks.
    ///   - onCredential: Called when a request turns out to be of no use to others.
    init(
        _ accounts: CacheAccounts,
        _ partition: CachePartition,
        in owner: AnyObject? = nil,
        onCredential: @escaping @Sendable () -> Void = {}
    ) {
        (self.accounts, self.partition, self.onCredential) = (accounts, partition, onCredential)
        self.owner = owner.map(ObjectIdentifier.init)
    }

    /// Whether it watches, itself or around itself, an exchange of `owner`.
    func isWithin(_ owner: AnyObject) -> Bool {
        self.owner == ObjectIdentifier(owner) || outer?.isWithin(owner) == true
    }

    /// Whether the answer may be given to others of the same partition.
    func allowsSharing(of request: HttpRequest) -> Bool {
        guard accounts.partition(for: request) == partition else { return false }
        return state.withLock { !$0.hasChanged && (!$0.hasCredential || partition.account != nil) }
    }

    /// Whether it went out as another account's than it was meant to be: nothing that is stored for that one may become
    /// its answer.
    var hasChanged: Bool { state.withLock { $0.hasChanged } }

    /// Takes note of a request as it goes on the wire.
    func note(_ request: HttpRequest) {
        note(hasCredential: request.hasCredential, hasChanged: accounts.partition(for: request) != partition)
        outer?.note(request)
    }

    /// Takes note of what another exchange has carried, whose answer this one gets.
    func note(sharing other: CredentialWatch) {
        note(hasCredential: other.state.withLock { $0.hasCredential }, hasChanged: false)
        outer?.note(sharing: other)
    }

    /// Takes note of an answer that one account's cache has given in the exchange's place, without anything on the wire.
    func note(servingAccountTo request: HttpRequest) {
        note(hasCredential: true, hasChanged: accounts.partition(for: request) != partition)
        outer?.note(servingAccountTo: request)
    }

    private func note(hasCredential: Bool, hasChanged: Bool) {
        state.withLock { state in
            if hasCredential { state.hasCredential = true }
            if hasChanged { state.hasChanged = true }
        }
        if hasChanged || hasCredential && partition.account == nil { onCredential() }
    }
}
