import Foundation

/// Builds each attempt's request from what the request and the service declare at that moment.
///
/// Two things stay as they were in the first attempt: an `Idempotency-Key` with its body, since a server compares them,
/// and a one-shot body, since it cannot be made again.
struct RequestBuilder {
    /// The call's `Idempotency-Key`, which its request keeps in every attempt; nil for none.
    private(set) var key: String?
    private var lastContent: Content?
    /// The method and the body that the request was built with.
    private var built: (method: HttpMethod, body: HttpBody.Payload) = (.get, .empty)
    /// The header that the attempt was built with; kept, so that the request copies its own header when it changes it.
    private var checkedHeader = HttpHeader()
    /// The origin to which `checkedHeader` may go unfiltered.
    private var builtOrigin: HttpOrigin?

    /// A body with the header fields that describe it, such as a form's boundary, which differs for each body.
    private struct Content {
        let payload: HttpBody.Payload
        let type: String?
        let encoding: String?
    }

    /// Whether the body can be sent again.
    var isReplayable: Bool { keptContent?.payload.isReplayable ?? true }

    /// The previous attempt's body, if it has to stay the same; nil if it is made anew.
    private var keptContent: Content? {
        switch lastContent?.payload {
        case .stream(let stream) where stream.isOneShot || key != nil: lastContent
        case .data where key != nil: lastContent
        default: nil
        }
    }

    /// Reads all parts again, builds the request and checks it.
    ///
    /// - Parameter serviceHeader: The service's present header, including the asynchronous one.
    /// - Throws: ``HttpRequest/Invalid``, and the errors of a body.
    mutating func build(
        _ request: some Request,
        to target: CallTarget,
        with serviceHeader: HttpHeader
    ) throws -> HttpRequest {
        let base = target.base
        var header = serviceHeader
        // Credentials go only to the service's own origin. Where the server has named the other one, as in a redirect,
        // so do the service's other fields.
        if base.origin != target.service.origin {
            let isNamed = request is any ServerNamedRequest
            header = isNamed ? header.crossingOrigins(with: request.method) : header.withoutSensitiveFields
        }
        header.merge(request.header)
        if let key { header[.idempotencyKey] = key } else { key = header[.idempotencyKey] }

        let content = try keptContent ?? content(of: request.body, request.encoder)
        lastContent = content
        let payload = content.payload
        if !payload.isEmpty {
            if header[.contentType] == nil { header[.contentType] = content.type }
            if header[.contentEncoding] == nil { header[.contentEncoding] = content.encoding }
        }

        let route = request.route
        var built = HttpRequest(
            method: request.method,
            url: try base.appending(route, query: request.query),
            // A route and a query cannot change the origin.
            origin: base.origin,
            header: header,
            body: payload,
            priority: request.priority
        )
        built.pathSecrets = route.secrets
        built.allowsBodyAcrossOrigins = request.allowsBodyAcrossOrigins
        try built.validate()
        (checkedHeader, builtOrigin) = (built.header, built.origin)
        self.built = (built.method, built.body)
        built.isBuilt = true
        return built
    }

    /// The check of the request after all changes on its way.
    var check: RequestCheck { RequestCheck(key: key, header: checkedHeader, origin: builtOrigin) }

    /// Gives the call's request its key, or keeps the key that an interceptor has given it. A request with another
    /// method or body is perhaps another one, sent by mistake in this one's place: it neither gets the key nor gives
    /// its own.
    mutating func keepKey(in request: inout HttpRequest) {
        guard request.isBuilt, request.method == built.method, !request.body.isOther(than: built.body) else { return }
        if let key {
            if request.header[.idempotencyKey] != key { request.header[.idempotencyKey] = key }
        } else {
            key = request.header[.idempotencyKey]
        }
    }

    private func content(of body: HttpBody, _ encoder: @autoclosure () -> JSONEncoder) throws -> Content {
        do {
            let payload = try body.payload(encoder)
            return Content(payload: payload, type: body.contentType, encoding: body.contentEncoding)
        } catch let error as EncodingError {
            throw HttpRequest.Invalid.bodyNotEncodable(at: error.path)
        } catch let error as HttpBodyStream.FileError {
            throw HttpRequest.Invalid.file(error)
        }
    }
}

extension HttpHeader {
    /// This header without the sensitive fields that it shares with `other`.
    func leavingBehind(_ other: HttpHeader) -> HttpHeader {
        HttpHeader(fields.filter { !$0.name.isSensitive || !other.fields.contains($0) })
    }
}

extension EncodingError {
    fileprivate var path: String {
        guard case .invalidValue(_, let context) = self else { return [].place }
        return context.codingPath.place
    }
}

extension HttpBody.Payload {
    /// Whether the bytes certainly differ; a stream may still be the same one.
    func isOther(than given: HttpBody.Payload) -> Bool {
        switch (self, given) {
        case (.empty, .empty), (.stream, .stream): false
        case (.data(let own), .data(let other)): own != other
        default: true
        }
    }
}
