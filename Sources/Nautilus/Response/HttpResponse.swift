import Foundation

/// What came back: the bytes inside the call, the decoded result outside of it.
public struct HttpResponse<Body: Sendable>: Sendable {
    /// The status code.
    public var status: Int
    /// The header.
    public var header: HttpHeader
    /// The body.
    public var body: Body
    /// Where the answer came from, after redirects; nil when nothing was sent (a hook or a cache answered).
    public var url: URL?
    /// What happened on the way; empty inside the call, where it is not over yet.
    public var trace: CallTrace {
        get { origins?.trace ?? CallTrace() }
        set { origins = ResponseOrigins(trace: newValue) }
    }
    /// The exchange that it is the answer to; nil when it was made on this side, by an interceptor or a hook, and outside of
    /// the call, where ``trace`` has all exchanges.
    public var exchange: CallTrace.Exchange? { origins?.exchange }
    /// The request that it is the answer to, as it went on the wire: stamped by the interceptors further in and by the
    /// retrier, and the last one of redirects. For interceptors, which have seen another one; nil where ``exchange`` is.
    public var request: HttpRequest? { origins?.request }
    /// The agreement of all calls that were given the same answer; nil when it was given to one.
    public var sharedAnswer: SharedAnswer? {
        get { origins?.sharedAnswer }
        set { origins = ResponseOrigins(origins, sharedAnswer: newValue) }
    }
    /// Where it comes from, beside the response, which is copied on its way through the call; nil when there is nothing to
    /// tell.
    private var origins: ResponseOrigins?
    /// The body of a response that is read while it comes; nil when it has come, or was made here.
    var stream: HttpBodyStream?

    /// Whether the body is still to come, and is none of an interceptor's business: ``body`` is empty then.
    public var isStreamed: Bool { stream != nil }

    /// Creates a response, as a transport, an interceptor or a hook does. Its trace is empty: the call fills it in.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, since who answers in place of a server mostly answers well.
    ///   - header: The header. Default: none.
    ///   - body: The body.
    ///   - url: Where the answer came from. Default: nil, nothing was sent.
    public init(status: Int = 200, header: HttpHeader = [:], body: Body, url: URL? = nil) {
        self.init(status: status, header: header, body: body, url: url, origins: nil)
    }

    private init(status: Int, header: HttpHeader, body: Body, url: URL?, origins: ResponseOrigins?) {
        self.status = status
        self.header = header
        self.body = body
        self.url = url
        self.origins = origins
    }

    /// The same response with another body.
    public func replacingBody<Other: Sendable>(_ body: Other) -> HttpResponse<Other> {
        HttpResponse<Other>(status: status, header: header, body: body, url: url, origins: origins)
    }
}

extension HttpResponse {
    /// This response as the answer to an exchange.
    mutating func answer(_ exchange: CallTrace.Exchange, to request: HttpRequest) {
        origins = ResponseOrigins(exchange: exchange, request: request)
    }

    /// This response as an error keeps it: without the request, which may carry a credential, and without a body that is
    /// still to come, whose connection would stay open for as long as the error is kept.
    var withoutOrigins: HttpResponse {
        var response = self
        (response.origins, response.stream) = (nil, nil)
        return response
    }
}

private final class ResponseOrigins: Sendable {
    let trace: CallTrace
    let exchange: CallTrace.Exchange?
    let request: HttpRequest?
    let sharedAnswer: SharedAnswer?

    init(trace: CallTrace) {
        (self.trace, self.exchange, self.request, self.sharedAnswer) = (trace, nil, nil, nil)
    }

    init(exchange: CallTrace.Exchange, request: HttpRequest) {
        (self.trace, self.exchange, self.request, self.sharedAnswer) = (CallTrace(), exchange, request, nil)
    }

    init(_ others: ResponseOrigins?, sharedAnswer: SharedAnswer?) {
        (self.trace, self.exchange) = (others?.trace ?? CallTrace(), others?.exchange)
        (self.request, self.sharedAnswer) = (others?.request, sharedAnswer)
    }
}

extension HttpResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status and URL without its query; never the body.
    public var description: String {
        url.map { "\(status) from \($0.withoutSecrets)" } ?? "\(status)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows status, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "header": header.description])
    }
}
