import Foundation

/// A response: the bytes inside the call, the decoded result outside of it.
public struct HttpResponse<Body: Sendable>: Sendable {
    /// The status code.
    public var status: Int
    /// The header.
    public var header: HttpHeader
    /// The body.
    public var body: Body
    /// The fields that came behind the body (RFC 9110 §6.5), such as a checksum of it. They are kept apart from the
    /// header since a server can know them only when the header is long gone, and they decide nothing here.
    ///
    /// Empty when there were none; for an answer that was kept by a cache, which may drop them (RFC 9111 §3.1); for a
    /// body that is read while it comes; and from a transport that does not pass them on, as Foundation's `URLSession`
    /// does not.
    public var trailers: HttpHeader = [:]
    /// Where the answer came from, after redirects; nil when nothing was sent (a hook or a cache answered).
    public var url: URL?
    /// The trace of the call; empty inside the call, where it is not over yet.
    public var trace: CallTrace {
        get { origins?.trace ?? CallTrace() }
        set { origins = ResponseOrigins(trace: newValue) }
    }
    /// The exchange that it is the answer to; nil when it was made on this side, by an interceptor or a hook, and
    /// outside of the call, where ``trace`` has all exchanges.
    public var exchange: CallTrace.Exchange? { origins?.exchange }
    /// The request that it is the answer to, as it went on the wire: stamped by the interceptors further in and by the
    /// retrier, and the last one of redirects. For interceptors, which have seen another one; nil where ``exchange``
    /// is.
    public var request: HttpRequest? { origins?.request }
    /// The agreement of all calls that were given the same answer; nil when it was given to one.
    public var sharedAnswer: SharedAnswer? {
        get { origins?.sharedAnswer }
        set { origins = ResponseOrigins(origins, sharedAnswer: newValue) }
    }
    /// Whether its status is the word of a request that has read it, and not the server's: see ``rejection(as:)``.
    public var isRejected: Bool { origins?.received != nil }
    /// The response as it came from the server, without the changes that a request has made: for an interceptor that
    /// gives it to calls of another type. The same where no request has rejected it. An interceptor's changes since
    /// then stay.
    public var asReceived: HttpResponse {
        guard let received = origins?.received else { return self }
        var response = self
        if status == received.rejection.status { response.status = received.status }
        if header == received.rejection.header { response.header = received.header }
        response.origins = origins.map { ResponseOrigins($0, exchange: received.exchange, received: nil) }
        return response
    }
    /// Where it comes from, beside the response, which is copied on its way through the call; nil when there is nothing
    /// to tell.
    private var origins: ResponseOrigins?
    /// The body of a response that is read while it comes; nil when it has come, or was made here.
    var stream: HttpBodyStream?

    /// Whether the body is still to come, and is not for interceptors: ``body`` is empty then.
    public var isStreamed: Bool { stream != nil }

    /// Creates a response, as a transport, an interceptor or a hook does. Its trace is empty: the call fills it in.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, since an answer in place of a server's is mostly a success.
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
        var other = HttpResponse<Other>(status: status, header: header, body: body, url: url, origins: origins)
        other.trailers = trailers
        return other
    }
}

extension HttpResponse {
    /// Whether a redirect has led to another origin than this one, whose word the answer then is.
    package func isFromElsewhere(than origin: HttpOrigin?) -> Bool { url.map { HttpOrigin($0) != origin } ?? false }

    /// This response as the answer to an exchange.
    mutating func answer(_ exchange: CallTrace.Exchange, to request: HttpRequest) {
        origins = ResponseOrigins(exchange: exchange, request: request)
    }

    /// Gives it the status and the header of a request's own word on it.
    mutating func reject(as status: Int, _ header: HttpHeader, _ delivery: Delivery) {
        var exchange = exchange
        exchange?.outcome = .answered(status: status)
        exchange?.delivery = delivery
        let received = Received(
            status: self.status,
            header: self.header,
            exchange: self.exchange,
            rejection: (status, header)
        )
        (self.status, self.header) = (status, header)
        origins = ResponseOrigins(origins, exchange: exchange, received: received)
    }

    /// This response as an error keeps it: without the request, which may carry a credential, and without a body that
    /// is still to come, since its connection would stay open for as long as the error is kept.
    var withoutOrigins: HttpResponse {
        var response = self
        (response.origins, response.stream) = (nil, nil)
        return response
    }
}

/// The status, the header and the exchange of a response before a request has rejected it.
private struct Received: Sendable {
    let status: Int
    let header: HttpHeader
    let exchange: CallTrace.Exchange?
    let rejection: (status: Int, header: HttpHeader)
}

private final class ResponseOrigins: Sendable {
    let trace: CallTrace
    let exchange: CallTrace.Exchange?
    let request: HttpRequest?
    let sharedAnswer: SharedAnswer?
    /// The values before a request's rejection replaced them; nil when it has not rejected the response.
    let received: Received?

    init(trace: CallTrace) {
        (self.trace, self.exchange, self.request) = (trace, nil, nil)
        (self.sharedAnswer, self.received) = (nil, nil)
    }

    init(exchange: CallTrace.Exchange, request: HttpRequest) {
        (self.trace, self.exchange, self.request) = (CallTrace(), exchange, request)
        (self.sharedAnswer, self.received) = (nil, nil)
    }

    init(_ others: ResponseOrigins?, sharedAnswer: SharedAnswer?) {
        (self.trace, self.exchange) = (others?.trace ?? CallTrace(), others?.exchange)
        (self.request, self.sharedAnswer, self.received) = (others?.request, sharedAnswer, others?.received)
    }

    init(_ others: ResponseOrigins?, exchange: CallTrace.Exchange?, received: Received?) {
        (self.trace, self.exchange) = (others?.trace ?? CallTrace(), exchange)
        (self.request, self.sharedAnswer, self.received) = (others?.request, others?.sharedAnswer, received)
    }
}

extension HttpResponse: Redacted {
    /// Status and URL without its query; never the body.
    public var description: String {
        url.map { "\(status) from \($0.withoutSecrets)" } ?? "\(status)"
    }

    /// Shows status, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "header": header.description])
    }
}

/// The one answer that several calls were given: its failure is one failure, and its retry is to be one retry.
///
/// A hundred calls that wait for one exchange get one 503. If each drew a delay and took its cost from the retry
/// budget, one failure would be charged a hundred times, and the retries would go out one by one. So an interceptor
/// that gives an answer to several calls marks it by ``HttpResponse/sharedAnswer`` or ``HttpError/sharedAnswer``, the
/// same object for all, and their retriers agree by it: the decision of the first holds for all.
public final class SharedAnswer: Sendable {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let party: ObjectIdentifier?
    }

    /// Each with its party, held so that no other object can get its identity.
    private let values = Locked<[Key: (party: (any AnyObject & Sendable)?, value: any Sendable)]>([:])

    /// Creates one on which nothing is agreed yet.
    public init() {}

    /// The agreed value: the one that the first caller with a value of this type, and for this party, has made.
    ///
    /// - Parameters:
    ///   - party: The party to the agreement: retriers that pay from different budgets cannot pay together. Default:
    ///     nil, all.
    ///   - make: Makes the value. Called without a lock, and now and then for nothing, when two calls are the first at
    ///     once.
    public func agree<Value: Sendable>(
        for party: (any AnyObject & Sendable)? = nil,
        on make: () -> Value
    ) -> Value {
        let key = Key(type: ObjectIdentifier(Value.self), party: party.map { ObjectIdentifier($0) })
        if let agreed = values.withLock({ $0[key]?.value }) as? Value { return agreed }
        let made = make()
        return values.withLock { values in
            if let agreed = values[key]?.value as? Value { return agreed }
            values[key] = (party, made)
            return made
        }
    }
}
