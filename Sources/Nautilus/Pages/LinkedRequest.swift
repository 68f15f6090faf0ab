import Foundation

/// A request at a URL that a server has named.
struct LinkedRequest<Base: Request>: Request {
    typealias Result = Base.Result

    let base: Base
    let target: URL
    /// Whether the base's own credentials may go there.
    let isTrusted: Bool

    var url: (any UrlConvertible)? { target }
    var usesSecureProtocol: Bool? { base.usesSecureProtocol }
    var method: HttpMethod { base.method }
    // The builder leaves out the service's fields; these would be taken for deliberate.
    var header: HttpHeader { isTrusted ? base.header : base.header.withoutSensitiveFields }
    var body: HttpBody { base.body }
    var encoder: JSONEncoder { base.encoder }
    var acceptedStatusCodes: HttpStatusCodes { base.acceptedStatusCodes }
    var priority: RequestPriority { base.priority }
    var timeout: Duration? { base.timeout }
    var deadline: Duration? { base.deadline }
    var streamsResponse: Bool { base.streamsResponse }
    var allowsHedging: Bool { base.allowsHedging }
    var allowsBodyAcrossOrigins: Bool { base.allowsBodyAcrossOrigins }

    func decode(_ data: Data) throws -> Base.Result { try base.decode(data) }
    func decode(_ response: HttpResponse<Data>) throws -> Base.Result { try base.decode(response) }
    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Base.Result {
        try await base.decode(response)
    }
}
