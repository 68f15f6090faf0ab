import Foundation

/// A request that is another one, except for the properties that it declares itself.
///
/// The one list of a request's properties: each request that wraps another has them from here, so that a property that is
/// new is forgotten by none. How the answer is decoded is its own, since it knows the result's type.
package protocol ForwardingRequest: Request, RequestOfAnother {
    /// The request that answers for what this one does not declare. It is asked again for every property.
    var forwarded: any Request { get }
}

extension ForwardingRequest {
    /// The wrapped request.
    package var declared: Any { forwarded }

    /// The wrapped request's.
    public var url: (any UrlConvertible)? { forwarded.url }
    /// The wrapped request's.
    public var usesSecureProtocol: Bool? { forwarded.usesSecureProtocol }
    /// The wrapped request's.
    public var method: HttpMethod { forwarded.method }
    /// The wrapped request's.
    public var route: HttpRoute { forwarded.route }
    /// The wrapped request's.
    public var query: HttpQuery { forwarded.query }
    /// The wrapped request's.
    public var header: HttpHeader { forwarded.header }
    /// The wrapped request's.
    public var body: HttpBody { forwarded.body }
    /// The wrapped request's.
    public var encoder: JSONEncoder { forwarded.encoder }
    /// The wrapped request's.
    public var acceptedStatusCodes: HttpStatusCodes { forwarded.acceptedStatusCodes }
    /// The wrapped request's.
    public var priority: RequestPriority { forwarded.priority }
    /// The wrapped request's.
    public var timeout: Duration? { forwarded.timeout }
    /// The wrapped request's.
    public var deadline: Duration? { forwarded.deadline }
    /// The wrapped request's.
    public var streamsResponse: Bool { forwarded.streamsResponse }
    /// The wrapped request's.
    public var isForGuests: Bool { forwarded.isForGuests }
    /// The wrapped request's.
    public var allowsHedging: Bool { forwarded.allowsHedging }
    /// The wrapped request's.
    public var allowsBodyAcrossOrigins: Bool { forwarded.allowsBodyAcrossOrigins }
}
