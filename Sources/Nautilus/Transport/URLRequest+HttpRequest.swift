import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Foundation's form of `request`.
    ///
    /// - Throws: ``InvalidRequest`` for a request that must not go on the wire, and ``TransportError`` for a URL that
    ///   is not HTTP. Nothing was sent.
    init(_ request: HttpRequest, body: Data?) throws {
        try request.validateForSession()
        self.init(url: request.url.withoutUserInfo, timeoutInterval: URLSessionTransport.backstop)
        if request.method != .get { httpMethod = request.method.rawValue }
        if let body, !body.isEmpty { httpBody = body }
        var fields = request.header.joinedFields
        // Foundation calls a POST body without a type a form; RFC 9110 §8.3 has a word for "unknown".
        if httpBody != nil, request.header[.contentType] == nil { fields["Content-Type"] = "application/octet-stream" }
        if !fields.isEmpty { allHTTPHeaderFields = fields }
    }
}

extension HttpRequest {
    /// Refuses a request that must not be given to a session.
    ///
    /// - Throws: ``InvalidRequest`` for a request that must not go on the wire, and ``TransportError`` for a URL that
    ///   is not HTTP. Nothing was sent.
    func validateForSession() throws {
        // Foundation on Linux passes line breaks on to the wire, and has a misleading word for a GET with a body.
        try validate()
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
            throw TransportError.failed(
                .unsupportedURL,
                delivery: .notSent,
                reason: "The URL's scheme is neither https nor http."
            )
        }
    }
}

extension HttpHeader {
    /// The fields as Foundation takes them: one value per name, without those that are the transport's own.
    fileprivate var joinedFields: [String: String] {
        var joined: [String: String] = [:]
        for (index, field) in fields.enumerated() {
            let isOwn = field.name == "Host" || field.name == .contentLength
            guard !isOwn, !fields[..<index].contains(where: { $0.name == field.name }) else { continue }
            // Cookies are the one list that is not joined by commas (RFC 6265 §5.4).
            let value = field.name == .cookie ? values(of: .cookie).joined(separator: "; ") : self[field.name]
            joined[field.name.rawValue] = value
        }
        return joined
    }
}

extension URL {
    /// The URL without user and password, which libcurl would send as Basic credentials unasked.
    fileprivate var withoutUserInfo: URL {
        guard user != nil || password != nil else { return self }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (components.user, components.password) = (nil, nil)
        return components.url ?? self
    }
}
