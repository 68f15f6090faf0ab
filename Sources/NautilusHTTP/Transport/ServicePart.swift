/// A part of a service that every call passes through and by which calls may share state: an interceptor, a hook, a
/// transport.
public protocol ServicePart: Sendable {
    /// The objects by which calls share state. `HttpService.diagnose()` reports those that are created anew whenever
    /// the service is asked for the part. Default: none. An object that remembers something or holds connections
    /// returns `[self]`; a part that wraps another returns the wrapped part's objects.
    var sharedObjects: [any AnyObject & Sendable] { get }
}

extension ServicePart {
    /// None.
    public var sharedObjects: [any AnyObject & Sendable] { [] }
}
