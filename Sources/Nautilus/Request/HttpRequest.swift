import Foundation

/// A request on its way to the wire: built anew for every attempt, changed by interceptors and by the retrier.
public struct HttpRequest: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method.
    public var method: HttpMethod
    /// The absolute URL.
    public var url: URL {
        didSet { origin = HttpOrigin(url) }
    }
    /// Where it goes; nil for a URL without a host.
    ///
    /// Kept beside the URL: everything that calls share asks for it, and taking a URL apart costs more than they do.
    public private(set) var origin: HttpOrigin?
    /// The header, `Content-Type` included; `Host` and `Content-Length` are the transport's.
    public var header: HttpHeader
    /// The body.
    public var body: HttpBody.Payload
    /// How urgent it is; a hint that a transport may ignore.
    public var priority: RequestPriority
    /// Whether a redirect may have the body sent to another origin; a request's own word, which an interceptor may change.
    /// Default: true.
    public var allowsBodyAcrossOrigins = true
    /// Whether a call has built it, or it was made of such a one by changing it.
    var isBuilt = false

    /// Creates a request as it will be sent.
    ///
    /// - Parameters:
    ///   - method: The method. Default: GET, which changes nothing on the server.
    ///   - url: The absolute URL, query included.
    ///   - header: All fields, `Content-Type` included. Default: none.
    ///   - body: The body, ready for the wire. Default: none, as GET has it.
    ///   - priority: How urgent it is. Default: normal.
    public init(
        method: HttpMethod = .get,
        url: URL,
        header: HttpHeader = [:],
        body: HttpBody.Payload = .empty,
        priority: RequestPriority = .normal
    ) {
        self.init(method: method, url: url, origin: HttpOrigin(url), header: header, body: body, priority: priority)
    }

    /// Creates a request whose origin is known already.
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

    /// Method and URL without its query, which may hold a token.
    public var description: String { "\(method) \(url.withoutSecrets)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows method, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "header": header.description])
    }
}

extension URL {
    /// The URL fit for a log: no user, no password, no query, no fragment.
    package var withoutSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "‹URL›" }
        let hasQuery = components.query != nil
        (components.user, components.password, components.query, components.fragment) = (nil, nil, nil, nil)
        return (components.string ?? "‹URL›") + (hasQuery ? "?…" : "")
    }
}
