import Foundation

/// A request made from another one, whose values hold wherever it gives none of its own.
protocol DerivedRequest: Request {
    associatedtype Base: Request
    /// The request that was declared.
    var base: Base { get }
}

extension DerivedRequest {
    var url: (any UrlConvertible)? { base.url }
    var usesSecureProtocol: Bool? { base.usesSecureProtocol }
    var method: HttpMethod { base.method }
    var route: HttpRoute { base.route }
    var query: HttpQuery { base.query }
    var header: HttpHeader { base.header }
    var body: HttpBody { base.body }
    var encoder: JSONEncoder { base.encoder }
    var acceptedStatusCodes: HttpStatusCodes { base.acceptedStatusCodes }
    var priority: RequestPriority { base.priority }
    var timeout: Duration? { base.timeout }
    var deadline: Duration? { base.deadline }
    var streamsResponse: Bool { true }
    var allowsBodyAcrossOrigins: Bool { base.allowsBodyAcrossOrigins }
}
