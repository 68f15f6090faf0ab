/// A part of a service that calls pass, and may share something through: an interceptor, a hook, a transport.
public protocol ServicePart: Sendable {
    /// The objects by which calls share state, for `HttpService.diagnose()`, which reports those that are made anew
    /// whenever the service is asked for the part. Default: none; an object with a memory, or with connections, returns
    /// `[self]`, and a part that wraps another returns the other's.
    var sharedObjects: [any AnyObject & Sendable] { get }

    /// Notes facts about a call that begins, such as its user.
    ///
    /// They are in the ``AttemptContext/facts`` of all its attempts, and in ``CallFacts/current`` when a hook is asked,
    /// or told of a success. Called once for each call, before its retrier is made and before anything is waited for;
    /// it must return at once. Calls that continue one another, the pages of a list or the connections of a stream,
    /// have the facts of the first: note what holds for all of them. A part that wraps another passes it on. Default:
    /// nothing.
    ///
    /// - Parameters:
    ///   - request: The request, as it was declared; of calls that continue one another, the first one's.
    ///   - facts: Takes the facts.
    func noteFacts<R: Request>(of request: R, in facts: inout CallFacts)
}

extension ServicePart {
    /// None.
    public var sharedObjects: [any AnyObject & Sendable] { [] }
    /// Nothing.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {}
}
