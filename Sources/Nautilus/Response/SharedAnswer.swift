/// The one answer that several calls were given: its failure is one failure, and its retry is to be one retry.
///
/// A hundred calls that wait for one exchange get one 503. If each drew a delay and took its cost from the retry budget,
/// one failure would be charged a hundred times, and the retries would go out one by one. So an interceptor that gives an
/// answer to several calls marks it by ``HttpResponse/sharedAnswer`` or ``HttpError/sharedAnswer``, the same object for all,
/// and their retriers agree by it: the decision of the first holds for all.
public final class SharedAnswer: Sendable {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let party: ObjectIdentifier?
    }

    /// Each with its party, held so that no other object can get its identity.
    private let values = Locked<[Key: (party: (any AnyObject & Sendable)?, value: any Sendable)]>([:])

    /// Creates one on which nothing is agreed yet.
    public init() {}

    /// The agreed value: the one that the first caller with a value of this type, and for this party, has made.
    ///
    /// - Parameters:
    ///   - party: The party to the agreement: retriers that pay from different budgets cannot pay together. Default:
    ///     nil, all.
    ///   - make: Makes the value. Called without a lock, and now and then for nothing, when two calls are the first at once.
    public func agree<Value: Sendable>(
        for party: (any AnyObject & Sendable)? = nil,
        on make: () -> Value
    ) -> Value {
        let key = Key(type: ObjectIdentifier(Value.self), party: party.map { ObjectIdentifier($0) })
        if let agreed = values.withLock({ $0[key]?.value }) as? Value { return agreed }
        let made = make()
        return values.withLock { values in
            if let agreed = values[key]?.value as? Value { return agreed }
            values[key] = (party, made)
            return made
        }
    }
}
