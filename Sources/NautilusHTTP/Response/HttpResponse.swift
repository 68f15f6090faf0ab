import Foundation

/// A response. Inside the call its body is bytes; outside, it is the decoded result.
public struct HttpResponse<Body: Sendable>: Sendable {
    /// The status code.
    public var status: Int
    /// The header.
    public var header: HttpHeader
    /// The body.
    public var body: Body
    /// The fields that came after the body (RFC 9110 §6.5), such as its checksum. They are kept apart from the header,
    /// since a server knows them only long after it has sent the header; the framework bases no decision on them.
    ///
    /// Empty if there were none; for an answer from a cache, which may drop them (RFC 9111 §3.1); for a body that is
    /// read as it arrives; and from a transport that does not pass them on, such as Foundation's `URLSession`.
    public var trailers: HttpHeader = [:]
    /// Where the answer came from, after redirects; nil when nothing was sent (a hook or a cache answered).
    public var url: URL?
    /// The trace of the call; empty inside the call, which is not over yet.
    public var trace: CallTrace {
        get { origins?.value.trace ?? CallTrace() }
        set { changeOrigins { $0 = ResponseOrigins(trace: newValue, pathSecrets: $0.pathSecrets) } }
    }
    /// The exchange that this response answers; nil if the response was made by an interceptor or a hook, and outside
    /// of the call, where ``trace`` has all exchanges.
    public var exchange: CallTrace.Exchange? { origins?.value.exchange }
    /// The request that this response answers, as it was sent: after the changes by inner interceptors and the retrier,
    /// and after the last redirect. It is for interceptors, which have seen it before these changes. Nil wherever
    /// ``exchange`` is nil.
    public var request: HttpRequest? { origins?.value.request }
    /// Whether the request has given the response its status, and not the server; see ``Request/status(of:)``.
    package var isReclassified: Bool { origins?.value.received != nil }
    /// The response as the server sent it, without the request's own status, for an interceptor that gives it to calls
    /// of another type. Changes that an interceptor has made since then stay.
    package var asReceived: HttpResponse {
        guard let received = origins?.value.received else { return self }
        var response = self
        if status == received.counting.status { response.status = received.status }
        if header == received.counting.header { response.header = received.header }
        response.changeOrigins { ($0.exchange, $0.received) = (received.exchange, nil) }
        return response
    }
    /// Whether the body has failed, so that ``body`` is only what could be read of it: enough for an error, but not to
    /// be kept for another request.
    package var isIncomplete: Bool { origins?.value.isIncomplete == true }
    /// Where the response comes from; nil if nothing is known.
    private var origins: Boxed<ResponseOrigins>?
    /// The body of a response that is read as it arrives; nil if the body is complete or was made by the client.
    package var stream: HttpBodyStream?

    /// Whether the body is read as it arrives. Interceptors do not get it then: ``body`` is empty.
    public var isStreamed: Bool { stream != nil }

    /// Creates a response, as a transport, an interceptor or a hook does. Its trace is empty: the call fills it in.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, since an answer made in place of a server's is mostly a success.
    ///   - header: The header. Default: none.
    ///   - body: The body.
    ///   - url: Where the answer came from. Default: nil, nothing was sent.
    public init(status: Int = 200, header: HttpHeader = [:], body: Body, url: URL? = nil) {
        self.init(status: status, header: header, body: body, url: url, origins: nil)
    }

    private init(status: Int, header: HttpHeader, body: Body, url: URL?, origins: Boxed<ResponseOrigins>?) {
        self.status = status
        self.header = header
        self.body = body
        self.url = url
        self.origins = origins
    }

    /// The same response with another body.
    public func replacingBody<Other: Sendable>(_ body: Other) -> HttpResponse<Other> {
        var other = HttpResponse<Other>(status: status, header: header, body: body, url: url, origins: origins)
        other.trailers = trailers
        return other
    }
}

extension HttpResponse {
    /// Whether the answer comes from another origin than this one, by a redirect.
    package func isFromElsewhere(than origin: HttpOrigin?) -> Bool { url.map { HttpOrigin($0) != origin } ?? false }

    /// Marks this response as the answer to an exchange.
    package mutating func answer(_ exchange: CallTrace.Exchange, to request: HttpRequest) {
        origins = Boxed(
            ResponseOrigins(exchange: exchange, request: request, pathSecrets: request.pathSecrets)
        )
    }

    /// Notes that the body has failed.
    package mutating func markIncomplete() {
        changeOrigins { $0.isIncomplete = true }
    }

    /// Hides the secrets in the path of `request`, in an answer that an interceptor has made or kept.
    package mutating func hideSecrets(of request: HttpRequest) {
        guard !request.pathSecrets.isEmpty, pathSecrets.isEmpty else { return }
        changeOrigins { $0.pathSecrets = request.pathSecrets }
    }

    private mutating func changeOrigins(_ change: (inout ResponseOrigins) -> Void) {
        var origins = origins.take() ?? Boxed(ResponseOrigins())
        change(&origins.value)
        self.origins = origins
    }

    /// Gives the response the status and the header that count for its request.
    mutating func count(as status: Int, _ header: HttpHeader, _ delivery: Delivery) {
        var exchange = exchange
        exchange?.outcome = .answered(status: status)
        exchange?.delivery = delivery
        let received = Received(
            status: self.status,
            header: self.header,
            exchange: self.exchange,
            counting: (status, header)
        )
        (self.status, self.header) = (status, header)
        changeOrigins { ($0.exchange, $0.received) = (exchange, received) }
    }

    /// This response as an error keeps it: without the request, which may carry a credential, and without a body still
    /// to be read, which would keep its connection open for as long as the error exists.
    package var withoutOrigins: HttpResponse {
        var response = self
        (response.origins, response.stream) = (nil, nil)
        if !pathSecrets.isEmpty { response.origins = Boxed(ResponseOrigins(pathSecrets: pathSecrets)) }
        return response
    }
}

/// The status, the header and the exchange of a response before its request has given it another status.
private struct Received: Sendable {
    let status: Int
    let header: HttpHeader
    let exchange: CallTrace.Exchange?
    let counting: (status: Int, header: HttpHeader)
}

private struct ResponseOrigins: Sendable {
    var trace = CallTrace()
    var exchange: CallTrace.Exchange?
    var request: HttpRequest?
    /// The values in the URL's path that are not printed.
    var pathSecrets: [String] = []
    var isIncomplete = false
    /// The values before a request's rejection replaced them; nil if no request has rejected the response.
    var received: Received?
}

extension HttpResponse<Data> {
    /// The most bytes of an error's body that are kept: 64 KiB.
    package static var errorBodyLimit: Int { 65_536 }

    /// The body as text, decoded by the charset that `Content-Type` declares: UTF-8, UTF-16 or windows-1252, which also
    /// stands for `iso-8859-1` and `us-ascii`, as in browsers.
    ///
    /// A byte order mark wins over what is declared. UTF-8 if nothing is declared, and always for JSON
    /// (RFC 8259 §8.1) and event streams.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for bytes that are no text in this charset;
    ///   ``HttpBodyStream/UnknownCharset``.
    public func text() throws -> String { try body.text(in: header.textCharset) }
}

extension HttpResponse: Redacted {
    /// Status and URL without its query and secrets in its path; never the body.
    public var description: String {
        url.map { "\(status) from \($0.withoutSecrets.hiding(pathSecrets))" } ?? "\(status)"
    }

    private var pathSecrets: [String] { origins?.value.pathSecrets ?? [] }

    /// Shows status, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        let fields = header.fields.map { $0.hiding(pathSecrets).description }
        return Mirror(self, children: ["response": description, "header": fields.joined(separator: "\n")])
    }
}
