import Foundation

/// The properties of a request that say how its call is made; ``Request/with(_:)`` replaces them one by one.
///
/// Until a property is set, it has the request's value, which is still read again for every attempt.
public struct RequestConfiguration: Sendable {
    private let base: any Request
    fileprivate var own = RequestOverrides()

    fileprivate init(_ base: any Request) {
        self.base = base
    }

    /// Header fields that are added to the request's, replacing those of the same name. None at first.
    public var header: HttpHeader {
        get { own.header }
        set { own.header = newValue }
    }
    /// Which status codes lead to a result.
    public var acceptedStatusCodes: HttpStatusCodes {
        get { own.acceptedStatusCodes ?? base.acceptedStatusCodes }
        set { own.acceptedStatusCodes = newValue }
    }
    /// How urgent the request is.
    public var priority: HttpRequest.Priority {
        get { own.priority ?? base.priority }
        set { own.priority = newValue }
    }
    /// How long one exchange may take; nil for no limit.
    public var timeout: Duration? {
        get { own.timeout ?? base.timeout }
        set { own.timeout = .some(newValue) }
    }
    /// How long the whole call may take; nil for no limit.
    public var deadline: Duration? {
        get { own.deadline ?? base.deadline }
        set { own.deadline = .some(newValue) }
    }
    /// Whether the call is anonymous: it needs no credential, and carries none.
    public var isAnonymous: Bool {
        get { own.isAnonymous ?? base.isAnonymous }
        set { own.isAnonymous = newValue }
    }
    /// Whether the request may be sent a second time while the first send is slow.
    public var allowsHedging: Bool {
        get { own.allowsHedging ?? base.allowsHedging }
        set { own.allowsHedging = newValue }
    }
    /// Whether a redirect may have the body sent to another origin.
    public var allowsBodyAcrossOrigins: Bool {
        get { own.allowsBodyAcrossOrigins ?? base.allowsBodyAcrossOrigins }
        set { own.allowsBodyAcrossOrigins = newValue }
    }
}

extension Request {
    /// This request with some properties replaced, for a call that is to be made differently.
    ///
    /// ```swift
    /// let note = try await GetNote(id: 7).with { $0.timeout = .seconds(2) }.schedule(with: service)
    /// ```
    /// - Parameter change: Sets properties. It is called once, immediately.
    /// - Throws: Any error that `change` throws.
    public func with<Failure: Error>(
        _ change: (inout RequestConfiguration) throws(Failure) -> Void
    ) throws(Failure) -> AnyRequest<Result> {
        var configuration = RequestConfiguration(self)
        try change(&configuration)
        return AnyRequest(OverridingRequest(base: self, own: configuration.own))
    }
}

/// The replaced properties of a request; nil for each that is still the base's.
private struct RequestOverrides {
    var header: HttpHeader = [:]
    var acceptedStatusCodes: HttpStatusCodes?
    var priority: HttpRequest.Priority?
    var timeout: Duration??
    var deadline: Duration??
    var isAnonymous: Bool?
    var allowsHedging: Bool?
    var allowsBodyAcrossOrigins: Bool?
}

/// A request that is another one, except for the replaced properties.
private struct OverridingRequest<Base: Request>: ForwardingRequest {
    let base: Base
    let own: RequestOverrides

    var forwarded: any Request { base }
    var header: HttpHeader { base.header.merging(own.header) }
    var acceptedStatusCodes: HttpStatusCodes { own.acceptedStatusCodes ?? base.acceptedStatusCodes }
    var priority: HttpRequest.Priority { own.priority ?? base.priority }
    var timeout: Duration? { own.timeout ?? base.timeout }
    var deadline: Duration? { own.deadline ?? base.deadline }
    var isAnonymous: Bool { own.isAnonymous ?? base.isAnonymous }
    var allowsHedging: Bool { own.allowsHedging ?? base.allowsHedging }
    var allowsBodyAcrossOrigins: Bool { own.allowsBodyAcrossOrigins ?? base.allowsBodyAcrossOrigins }

    func decode(_ data: Data) throws -> Base.Result { try base.decode(data) }
    func decode(_ response: HttpResponse<Data>) throws -> Base.Result { try base.decode(response) }
    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Base.Result {
        try await base.decode(response)
    }
}
