import Foundation

/// A request that is another one, except for the properties that it declares itself.
///
/// Every request that wraps another one forwards its properties by this protocol, the only list of them, so that no
/// wrapper can forget a new property. Decoding is left to the wrapper, which knows the result's type.
package protocol ForwardingRequest: Request, RequestOfAnother {
    /// The wrapped request, which supplies every property that this one does not declare. Read again for each property.
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
    public func status(of response: HttpResponse<Data>) -> AnswerStatus { forwarded.status(of: response) }
    /// The wrapped request's.
    public var priority: HttpRequest.Priority { forwarded.priority }
    /// The wrapped request's.
    public var timeout: Duration? { forwarded.timeout }
    /// The wrapped request's.
    public var deadline: Duration? { forwarded.deadline }
    /// The wrapped request's.
    public var streamsResponse: Bool { forwarded.streamsResponse }
    /// The wrapped request's.
    public var isAnonymous: Bool { forwarded.isAnonymous }
    /// The wrapped request's.
    public var allowsHedging: Bool { forwarded.allowsHedging }
    /// The wrapped request's.
    public var allowsBodyAcrossOrigins: Bool { forwarded.allowsBodyAcrossOrigins }
}

/// A request whose URL the server has named, and not its author.
package protocol ServerNamedRequest: Request {}
