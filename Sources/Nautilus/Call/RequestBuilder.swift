import Foundation

/// Makes the request of each attempt from what request and service say at that moment.
///
/// Two things stay as the first attempt had them: the `Idempotency-Key` with its body, since a server compares them,
/// and a one-shot body, since there is no other.
struct RequestBuilder {
    private var key: String?
    private var lastBody: HttpBody.Payload?

    /// Whether the body can be sent once more.
    var isReplayable: Bool { keptBody?.isReplayable ?? true }

    /// The body of the attempt before, where it has to stay; nil where it is made anew.
    private var keptBody: HttpBody.Payload? {
        switch lastBody {
        case .stream(let stream) where stream.isOneShot: lastBody
        case .data where key != nil: lastBody
        default: nil
        }
    }

    /// Reads everything again and checks it.
    ///
    /// - Throws: ``InvalidRequest``, and whatever an asynchronous header throws.
    mutating func build<R: Request, S: HttpService>(
        _ request: R,
        for service: S
    ) async throws -> (HttpRequest, serviceOrigin: HttpOrigin) {
        let serviceBase = try BaseUrlMemo.shared.base(service.apiUrl, isSecure: service.usesSecureProtocol)
        let base = try base(of: request, for: service) ?? serviceBase

        var header = service.header
        header.merge(try await service.asyncHeader)
        // Credentials go to the service's own origin only.
        if base.origin != serviceBase.origin { header = header.withoutSensitiveFields }
        header.merge(request.header)
        pinKey(in: &header)

        let body = request.body
        let payload = try keptBody ?? payload(of: body, request.encoder)
        lastBody = payload
        if !payload.isEmpty, header[.contentType] == nil { header[.contentType] = body.contentType }

        let built = HttpRequest(
            method: request.method,
            url: try base.appending(request.route, query: request.query),
            // A route and a query lead to no other origin.
            origin: base.origin,
            header: header,
            body: payload,
            priority: request.priority
        )
        try built.validate()
        if let timeout = request.timeout, timeout <= .zero { throw InvalidRequest.notPositive(parameter: "timeout") }
        return (built, serviceBase.origin)
    }

    /// The request's own base; nil when it overrides neither URL nor scheme.
    private func base(of request: some Request, for service: some HttpService) throws(InvalidRequest) -> BaseUrl? {
        guard request.url != nil || request.usesSecureProtocol != nil else { return nil }
        return try BaseUrlMemo.shared.base(
            request.url ?? service.apiUrl,
            isSecure: request.usesSecureProtocol ?? service.usesSecureProtocol
        )
    }

    /// Keeps the key that the call was first sent with: the request's, or an interceptor's, which draws it anew.
    mutating func pinKey(in header: inout HttpHeader) {
        if let key {
            if header[.idempotencyKey] != key { header[.idempotencyKey] = key }
        } else {
            key = header[.idempotencyKey]
        }
    }

    private func payload(
        of body: HttpBody,
        _ encoder: @autoclosure () -> JSONEncoder
    ) throws -> HttpBody.Payload {
        do {
            return try body.payload(encoder)
        } catch let error as EncodingError {
            throw InvalidRequest.bodyNotEncodable(at: error.path)
        }
    }
}

extension EncodingError {
    fileprivate var path: String {
        guard case .invalidValue(_, let context) = self, !context.codingPath.isEmpty else { return "the top level" }
        return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
