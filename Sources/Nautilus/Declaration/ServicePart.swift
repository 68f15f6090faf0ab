/// A part of a service that calls may share something through: an interceptor, a transport.
public protocol ServicePart: Sendable {
    /// The objects by which calls share what it knows or keeps, for `HttpService.diagnose()`, which tells of those that are
    /// made anew whenever the service is asked for the part. Default: none; an object with a memory, or with connections,
    /// returns `[self]`, and one that wraps another the other's.
    var sharedObjects: [any AnyObject & Sendable] { get }
}

extension ServicePart {
    /// None.
    public var sharedObjects: [any AnyObject & Sendable] { [] }
}
