import Foundation

/// A request on its way to the wire: built anew for every attempt, changed by interceptors and by the retrier.
public struct HttpRequest: Sendable, Redacted {
    /// The method.
    public var method: HttpMethod
    /// The absolute URL.
    public var url: URL {
        didSet { origin = HttpOrigin(url) }
    }
    /// The origin that the request goes to; nil for a URL without a host.
    ///
    /// Kept beside the URL, since everything that calls share needs it, and parsing the URL costs more than those parts
    /// do.
    public private(set) var origin: HttpOrigin?
    /// The header, including `Content-Type`; the transport adds `Host` and `Content-Length`.
    public var header: HttpHeader
    /// The body.
    public var body: HttpBody.Payload
    /// How urgent the request is; a hint that a transport may ignore.
    public var priority: Priority
    /// Whether a redirect may have the body sent to another origin. The declared request sets it, and an interceptor
    /// may change it. Default: true.
    public var allowsBodyAcrossOrigins = true
    /// The tag of each credential that the request carries.
    package private(set) var tags: [any RequestTag] = []
    /// The fields with a credential whose names do not show it (by ``HttpHeader/Name/isSensitive``). They are not
    /// printed either.
    private var authorizedNames: [HttpHeader.Name] = []
    /// The values in the path that are not printed, as the route has marked them.
    package var pathSecrets: [String] = []
    /// Whether a call has built the request, possibly changed since.
    package var isBuilt = false
    /// Whether its `Idempotency-Key`, if it has one, is the same in each attempt, so that the server recognises a
    /// repetition by it.
    package var isKeyKept = true

    /// Creates a request as it will be sent.
    ///
    /// - Parameters:
    ///   - method: The method. Default: GET, which changes nothing on the server.
    ///   - url: The absolute URL, query included.
    ///   - header: All fields, `Content-Type` included. Default: none.
    ///   - body: The body, ready for the wire. Default: none, as GET has it.
    ///   - priority: How urgent the request is. Default: normal.
    public init(
        method: HttpMethod = .get,
        url: URL,
        header: HttpHeader = [:],
        body: HttpBody.Payload = .empty,
        priority: Priority = .normal
    ) {
        self.init(method: method, url: url, origin: HttpOrigin(url), header: header, body: body, priority: priority)
    }

    /// Creates a request whose origin is already known.
    package init(
        method: HttpMethod,
        url: URL,
        origin: HttpOrigin?,
        header: HttpHeader,
        body: HttpBody.Payload,
        priority: Priority
    ) {
        self.method = method
        self.url = url
        self.origin = origin
        self.header = header
        self.body = body
        self.priority = priority
    }

    /// Whether the request carries a credential of a session, in whichever field, so that the answer is for this user
    /// only.
    package var isAuthorized: Bool { !tags.isEmpty }

    /// Notes what the request now carries of a credential.
    ///
    /// - Parameter before: The header without the credential. Fields that it does not have are not printed from now on.
    package mutating func tag(_ tag: some RequestTag, writtenSince before: HttpHeader) {
        tags.append(tag)
        for field in header.fields where field.name != .authorization && !field.name.isSensitive {
            if !before.fields.contains(field) { authorizedNames.append(field.name) }
        }
    }

    /// This request without any credential, as it goes to another origin.
    package mutating func removeTags() { tags = [] }

    /// Leaves behind the credentials of `given`, since this request goes to another origin.
    package mutating func leaveBehindCredentials(of given: HttpRequest) {
        header = HttpHeader(
            header.fields.filter { field in
                let isSecret = field.name.isSensitive || given.authorizedNames.contains(field.name)
                return !isSecret || !given.header.fields.contains(field)
            }
        )
        removeTags()
    }

    /// A field as text that is safe to log.
    func redacted(_ field: HttpHeader.Field) -> String {
        if authorizedNames.contains(field.name) { return "\(field.name): ‹redacted›" }
        // A field may name the URL, as `Referer` does.
        return field.hiding(pathSecrets).description
    }

    /// Method and URL without its query, which may hold a token, and without a path component that is a secret.
    public var description: String { "\(method) \(printedUrl)" }

    /// The URL as text that is safe to log.
    var printedUrl: String { url.withoutSecrets.hiding(pathSecrets) }

    /// Shows method, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "header": header.fields.map(redacted)])
    }
}

extension URL {
    /// The URL as text that is safe to log: without user, password, query and fragment.
    package var withoutSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "‹URL›" }
        let hasQuery = components.query != nil
        (components.user, components.password, components.query, components.fragment) = (nil, nil, nil, nil)
        return (components.string ?? "‹URL›") + (hasQuery ? "?…" : "")
    }

    /// The URL without user and password, which libcurl would otherwise send as Basic credentials; nil without an
    /// authority.
    package var withoutAuthorityUser: String? {
        let text = absoluteString
        // Nearly no URL has a user.
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
        let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        return String(text[..<start]) + text[text.index(after: at)...]
    }
}

extension HttpRequest {
    /// Whether sending it twice has the effect of sending it once: its method is idempotent, or it has an
    /// `Idempotency-Key`.
    public var isIdempotent: Bool { method.isIdempotent || header[.idempotencyKey] != nil }

    /// Refuses a request that must not be sent.
    ///
    /// Called more than once for a request, since interceptors and retriers add fields. A transport calls it before it
    /// sends anything, since it may be used without a service.
    ///
    /// - Throws: ``HttpRequest/Invalid``: the method or a field name is not a token, a value would split the header, a
    ///   field is one that only the transport writes, or there is a body that the method does not allow.
    public func validate() throws(HttpRequest.Invalid) {
        try validate(trusting: nil)
    }

    /// Refuses a request that must not be sent, without checking again a header that has been checked before.
    ///
    /// - Parameter checked: The header that has been checked; nil for none.
    /// - Throws: The errors of ``validate()``.
    package func validate(trusting checked: HttpHeader?) throws(HttpRequest.Invalid) {
        guard method.rawValue.isToken else { throw .method }
        if header != checked {
            try header.validate()
            for field in header.fields where field.name.isWrittenByTransport { throw .reservedHeader(field.name) }
        }
        guard body.isEmpty || !["GET", "HEAD", "TRACE"].contains(method.rawValue) else {
            throw .bodyNotAllowed(method)
        }
    }
}

extension HttpHeader {
    /// Refuses fields that would break the header.
    func validate() throws(HttpRequest.Invalid) {
        for field in fields {
            guard field.name.rawValue.isToken else { throw .headerName }
            guard field.value.hasOnly({ $0 != 0x0D && $0 != 0x0A && $0 != 0 }) else {
                throw .headerValue(name: field.name)
            }
        }
    }
}

extension String {
    fileprivate var isToken: Bool {
        !utf8.isEmpty && hasOnly(\.isTokenCharacter)
    }
}

extension HttpRequest {
    /// How urgent a request is among those waiting for a connection.
    public enum Priority: Int, Hashable, Sendable, CaseIterable, Comparable {
        /// Work that no person waits for.
        case low
        /// The default.
        case normal
        /// Work that a person waits for.
        case high

        /// Orders by urgency.
        public static func < (left: Priority, right: Priority) -> Bool {
            left.rawValue < right.rawValue
        }
    }
}

/// The tag of a credential on a request, as far as the transport has to know it.
package protocol RequestTag: Sendable {
    /// Why a request with this credential must not be written any more; nil while it may.
    var refusal: (any Error)? { get }
}

extension HttpRequest {
    /// Why the request must not be written any more: the session of a credential that it carries is over. Nil while it
    /// may go out, and for a request without a credential.
    ///
    /// For a transport in which requests wait for a connection or in a queue: it asks right before it writes, and
    /// fails with this error. The call asks before it hands the request over.
    public var refusal: (any Error)? {
        for tag in tags {
            if let end = tag.refusal { return end }
        }
        return nil
    }
}
