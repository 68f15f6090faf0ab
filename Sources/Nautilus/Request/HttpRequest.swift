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
    public var priority: RequestPriority
    /// Whether a redirect may have the body sent to another origin. The declared request sets it, and an interceptor
    /// may change it. Default: true.
    public var allowsBodyAcrossOrigins = true
    /// Whether a retrier has put the user's credential into the request, in whichever field, so that the answer is for
    /// this user only.
    public private(set) var isStamped = false
    /// The fields with the credential whose names do not show it (by ``HttpHeader/Name/isSensitive``). They are not
    /// printed either.
    public private(set) var stampedNames: [HttpHeader.Name] = []
    /// Whether a call has built the request, possibly changed since.
    var isBuilt = false

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
        priority: RequestPriority = .normal
    ) {
        self.init(method: method, url: url, origin: HttpOrigin(url), header: header, body: body, priority: priority)
    }

    /// Creates a request whose origin is already known.
    init(
        method: HttpMethod,
        url: URL,
        origin: HttpOrigin?,
        header: HttpHeader,
        body: HttpBody.Payload,
        priority: RequestPriority
    ) {
        self.method = method
        self.url = url
        self.origin = origin
        self.header = header
        self.body = body
        self.priority = priority
    }

    /// Notes that the request now carries the user's credential. ``CredentialLease`` calls this; a retrier that puts a
    /// credential on by itself has to call it, too.
    ///
    /// - Parameter names: The fields with the credential whose names do not show it. Default: none.
    public mutating func noteStamp(in names: [HttpHeader.Name] = []) {
        isStamped = true
        if !names.isEmpty { stampedNames += names }
    }

    /// Notes a credential in the fields that `before` did not have.
    mutating func noteStamp(since before: HttpHeader) {
        let fresh = header.fields.filter { $0.name != .authorization && !before.fields.contains($0) }
        noteStamp(in: fresh.map(\.name).filter { !$0.isSensitive })
    }

    /// A field as text that is safe to log.
    func redacted(_ field: HttpHeader.Field) -> String {
        stampedNames.contains(field.name) ? "\(field.name): ‹redacted›" : field.description
    }

    /// Method and URL without its query, which may hold a token.
    public var description: String { "\(method) \(url.withoutSecrets)" }

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
    /// - Throws: ``InvalidRequest``: the method or a field name is not a token, a value would split the header, or
    ///   there is a body that the method does not allow.
    public func validate() throws(InvalidRequest) {
        try validate(trusting: nil)
    }

    /// Refuses a request that must not be sent, without checking again a header that has been checked before.
    ///
    /// - Parameter checked: The header that has been checked; nil for none.
    /// - Throws: The errors of ``validate()``.
    func validate(trusting checked: HttpHeader?) throws(InvalidRequest) {
        guard method.rawValue.isToken else { throw .method }
        if checked.map(header.isIdentical) != true { try header.validate() }
        guard body.isEmpty || !["GET", "HEAD", "TRACE"].contains(method.rawValue) else {
            throw .bodyNotAllowed(method)
        }
    }
}

extension HttpHeader {
    /// Refuses fields that would break the header.
    func validate() throws(InvalidRequest) {
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

/// Why a request cannot be built. Nothing was sent.
public enum InvalidRequest: Error, Hashable, Sendable, CustomStringConvertible {
    /// The base URL cannot be used.
    case baseUrl(reason: String)
    /// A component of the route, counted from 0, is empty.
    case emptyRouteComponent(index: Int)
    /// A component of the route, counted from 0, is `.` or `..`.
    case dotRouteComponent(index: Int)
    /// The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
    case method
    /// A field name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
    case headerName
    /// The value of the field `name` has a character that a header must not contain: CR, LF or NUL.
    case headerValue(name: HttpHeader.Name)
    /// The body's value cannot be encoded; `at` is the path of coding keys to the place.
    case bodyNotEncodable(at: String)
    /// A file that is to be sent cannot be read.
    case file(HttpFileError)
    /// The parts of a form contain every boundary that was drawn to separate them.
    case multipartBoundary
    /// The method does not take a body.
    case bodyNotAllowed(HttpMethod)
    /// The timeout or the deadline is not positive.
    case notPositive(parameter: String)

    /// The fault, and its remedy.
    public var description: String {
        switch self {
        case .baseUrl(let reason):
            "The base URL cannot be used: \(reason)."
        case .emptyRouteComponent(let index):
            "Component \(index) of the route is empty, which would address another resource; "
                + "check the identifier, or ask for a trailing slash with HttpRoute(_:trailingSlash:)."
        case .dotRouteComponent(let index):
            "Component \(index) of the route is . or .., which servers take for a step within the path; check the "
                + "identifier."
        case .method:
            "The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        case .headerName:
            "A header name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        case .headerValue(let name):
            "The value of header \(name) contains a line break or NUL; remove it before it splits the header."
        case .bodyNotEncodable(let place):
            "The body cannot be encoded: the value at \(place) has no representation."
        case .file(let error):
            "The body cannot be read: \(error)"
        case .multipartBoundary:
            "No boundary was found that the parts of the form do not contain; use a random source that is random."
        case .bodyNotAllowed(let method):
            "\(method) does not carry a body; use POST, or put the values into the query."
        case .notPositive(let parameter):
            "The \(parameter) must be more than zero; use nil for none."
        }
    }
}

/// How urgent a request is among those waiting for a connection.
public enum RequestPriority: Int, Hashable, Sendable, CaseIterable, Comparable {
    /// Work that no person waits for.
    case low
    /// The default.
    case normal
    /// Work that a person waits for.
    case high

    /// Orders by urgency.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}
