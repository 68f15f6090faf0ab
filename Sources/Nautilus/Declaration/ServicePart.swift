/// A part of a service that every call passes through and by which calls may share state: an interceptor, a hook, a
/// transport.
public protocol ServicePart: Sendable {
    /// The objects by which calls share state. `HttpService.diagnose()` reports those that are created anew whenever
    /// the service is asked for the part. Default: none. An object that remembers something or holds connections
    /// returns `[self]`; a part that wraps another returns the wrapped part's objects.
    var sharedObjects: [any AnyObject & Sendable] { get }

    /// Notes facts about a call that begins, such as its user.
    ///
    /// The facts are in the ``AttemptContext/facts`` of all attempts of the call, and in ``CallFacts/current`` when a
    /// hook is asked or is told of a success. Called once for each call, before its retrier is created and before the
    /// call waits for anything; it must return at once. Calls that continue one another, such as the pages of a list or
    /// the connections of a stream, share the facts of the first, so note what holds for all of them. A part that wraps
    /// another forwards this call. Default: notes nothing.
    ///
    /// - Parameters:
    ///   - request: The request as declared; for calls that continue one another, that of the first.
    ///   - facts: Takes the facts.
    func noteFacts<R: Request>(of request: R, in facts: inout CallFacts)
}

extension ServicePart {
    /// None.
    public var sharedObjects: [any AnyObject & Sendable] { [] }
    /// Nothing.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {}
}
