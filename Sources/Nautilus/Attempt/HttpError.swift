import Foundation

/// The failure of a call: the last real one, with all that is known about it, and the trace of the whole call.
public struct HttpError: Error, Sendable {
    /// The stage of the call's path at which it failed.
    public var stage: CallStage {
        get { fields.value.stage }
        set { fields.value.stage = newValue }
    }
    /// The kind of the failure.
    public var kind: FailureKind {
        get { fields.value.kind }
        set { fields.value.kind = newValue }
    }
    /// How far the request may have got.
    public var delivery: Delivery {
        get { fields.value.delivery }
        set { fields.value.delivery = newValue }
    }
    /// The request, without header and query; nil when none could be built.
    public var request: RequestSummary? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }
    /// The response, with its body cut to 64 KiB, or, if it was read while it arrived, to the part received within a
    /// second; nil when there was none. If the failure is the body's, it has the part that could be read.
    public var response: HttpResponse<Data>? {
        get { fields.value.response }
        set { fields.value.response = newValue }
    }
    /// Where redirects led before the failure; nil when there were none.
    package var redirects: CallTrace.Redirects? {
        get { fields.value.redirects }
        set { fields.value.redirects = newValue }
    }
    /// How long to wait before trying again: as the server asks, counted from the arrival of the response; until a
    /// refusal on this side ends; or until the next refresh may start after a failed one. Nil when there is no valid
    /// value.
    public var retryAfter: Duration? {
        get { fields.value.retryAfter }
        set { fields.value.retryAfter = newValue }
    }
    /// The exchange that got the answer or failed; another call's when the answer was shared (see
    /// ``CallTrace/Exchange/call``). Nil when nothing was sent, and when an interceptor, a hook or the framework failed
    /// by itself.
    package var exchange: CallTrace.Exchange? {
        get { fields.value.exchange }
        set { fields.value.exchange = newValue }
    }
    /// The call that failed; ``CallIdentity/none`` until a call has taken the error up.
    package var call: CallIdentity {
        get { fields.value.call }
        set { fields.value.call = newValue }
    }
    /// Whether the failure is that of an event stream or a web socket which has been open: its connection has ended, or
    /// another one could not be opened. The only retry is then the next connection. A stream is meant to outlast any
    /// outage, so such a retry counts as no attempt and costs no budget; a custom retrier that counts or keeps a budget
    /// has to check this.
    public var isReconnect: Bool {
        get { fields.value.isReconnect }
        set { fields.value.isReconnect = newValue }
    }
    /// The error underneath; nil when the framework itself found the failure.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue }
    }
    /// The failed attempt's number, from 1; 0 when the call failed before its first attempt.
    public var attempt: Int {
        get { fields.value.attempt }
        set { fields.value.attempt = newValue }
    }
    /// The trace of the whole call; empty while the retrier is asked.
    public var trace: CallTrace {
        get { fields.value.trace }
        set { fields.value.trace = newValue }
    }
    /// The coders of the call's service; nil for the standard ones, and until a call has taken the error up.
    var coders: JsonCoders.Carried? {
        get { fields.value.coders }
        set { fields.value.coders = newValue }
    }
    /// Whether it is a subrequest's failure.
    var isOfSubrequest: Bool {
        get { fields.value.isOfSubrequest }
        set { fields.value.isOfSubrequest = newValue }
    }
    /// Whether a call has ended with this error; thrown inside another call, it is not that call's own failure.
    package var isFinal: Bool { fields.value.isFinal }

    /// Marks the error as one that a call has ended with.
    package mutating func markFinal() { fields.value.isFinal = true }

    /// The most bytes of a response's body that an error keeps: 64 KiB, ample for an error document and small
    /// enough to keep errors around.
    package static let bodyLimit = HttpResponse<Data>.errorBodyLimit

    /// How long an error waits for the body of a streamed response after the header has said that it is an error: a
    /// second, in all. The status is known by then (RFC 9110 §6), and the failure, or another attempt, must not wait
    /// for a mere description; an error document follows right after its header.
    package static let bodyTime = Duration.seconds(1)

    /// Creates an error, as a retrier with its own failure or a test does. Its trace is empty; the call fills it.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - stage: The stage of the call's path.
    ///   - delivery: How far the request may have got. Default: `maybeExecuted`, the assumption that repeats nothing by
    ///     mistake.
    ///   - request: The request. Default: nil, none could be built.
    ///   - response: The response, its body cut to 64 KiB. Default: nil, there was none.
    ///   - retryAfter: How long the server asks to wait. Default: nil, it does not say.
    ///   - underlying: The error that led to it. Default: nil, none did.
    ///   - attempt: The failed attempt's number. Default: 0, none had begun.
    public init(
        _ kind: FailureKind,
        stage: CallStage,
        delivery: Delivery = .maybeExecuted,
        request: RequestSummary? = nil,
        response: HttpResponse<Data>? = nil,
        retryAfter: Duration? = nil,
        underlying: (any Error)? = nil,
        attempt: Int = 0
    ) {
        // Copied: a slice would keep the whole body in memory.
        let kept = response.map { response in
            let kept = response.withoutOrigins
            return kept.body.count > Self.bodyLimit ? kept.replacingBody(Data(kept.body.prefix(Self.bodyLimit))) : kept
        }
        let exchange = response?.exchange
        fields = Boxed(
            Fields(
                stage: stage,
                kind: kind,
                delivery: delivery,
                request: request,
                response: kept,
                redirects: exchange?.redirects,
                retryAfter: retryAfter,
                exchange: exchange,
                underlying: underlying,
                attempt: attempt,
                trace: CallTrace()
            )
        )
    }

    /// The fields, boxed, since they are too many to move from stage to stage.
    private var fields: Boxed<Fields>

    private struct Fields: Sendable {
        var stage: CallStage
        var kind: FailureKind
        var delivery: Delivery
        var request: RequestSummary?
        var response: HttpResponse<Data>?
        var redirects: CallTrace.Redirects?
        var retryAfter: Duration?
        var exchange: CallTrace.Exchange?
        var call: CallIdentity = CallIdentity.none
        var isReconnect: Bool = false
        var underlying: (any Error)?
        var attempt: Int
        var trace: CallTrace
        var coders: JsonCoders.Carried?
        var isOfSubrequest: Bool = false
        var isFinal: Bool = false
    }

    /// The response's status; nil when there was no response.
    public var status: Int? { response?.status }
}

extension HttpError {
    /// Decodes the body of the response, the server's own account of its refusal, for a service's own error.
    ///
    /// ```swift
    /// func mapError(_ error: HttpError) -> NotesError {
    ///     error.responseBody(as: Problem.self).map(NotesError.refused) ?? .failed(error)
    /// }
    /// ```
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder. Default: nil, a new one from the service's ``HttpService/coders``.
    /// - Returns: Nil when the server refused nothing, that is, when there was no response, or one with a success
    ///   status and a body that did not decode. Nil also when the body is not of that type, and when it is larger than
    ///   64 KiB, since an error keeps only its beginning.
    public func responseBody<Body: Decodable>(
        as type: Body.Type = Body.self,
        decoder: JSONDecoder? = nil
    ) -> Body? {
        guard let response, hasRefused(by: response) else { return nil }
        return try? (decoder ?? coders.decoder()).decode(type, from: response.body)
    }

    /// The body of the response as text, the server's own account of its refusal, for a log or a person.
    ///
    /// Decoded by its charset, as ``HttpResponse/text()`` does; what is malformed, for instance where the body was cut,
    /// becomes U+FFFD. Nil when the server refused nothing, as for ``responseBody(as:decoder:)``, and for a charset
    /// that is not known.
    public var responseText: String? {
        guard let response, hasRefused(by: response) else { return nil }
        return try? response.body.repairedText(in: response.header.textCharset)
    }

    /// The server's account of its refusal; nil when it sent none as `application/problem+json`, and when it refused
    /// nothing.
    public var problem: ProblemDetails? {
        guard response?.header.mediaType?.essence == "application/problem+json" else { return nil }
        // The names of its members come from the standard, not from the service.
        return responseBody(as: ProblemDetails.self, decoder: JSONDecoder())
    }

    /// Whether the server has refused by `response`: by its status, or by a success that the request reads as a
    /// refusal.
    private func hasRefused(by response: HttpResponse<Data>) -> Bool {
        if case .status = kind { return true }
        return !(200..<300).contains(response.status)
    }
}

// MARK: - Another attempt

extension HttpError {
    /// Whether another attempt is sure to execute nothing twice: either the server has not acted on anything that this
    /// attempt sent, or acting twice has the same effect as acting once.
    ///
    /// A retrier checks it before it repeats an attempt after a failure. It covers the whole attempt: an interceptor
    /// may have sent more than the request that failed. ``delivery`` tells whether the server may have acted;
    /// ``RequestSummary/isIdempotent``, whether acting twice makes a difference.
    ///
    /// Whether another attempt may *succeed* is another question, answered by ``RetryCondition``.
    public var isSafeToRepeat: Bool {
        delivery != .maybeExecuted || request?.isIdempotent == true
    }

    /// Whether the request was held back on this side, so that nothing in the error comes from the server.
    var isRefusal: Bool {
        if case .refused = kind { true } else { false }
    }

    /// This failure as one of authorization: the same response, the refresh's error underneath, and as ``retryAfter``
    /// the time after which the refresh may succeed.
    public func asAuthorizationFailure(_ underlying: any Error) -> HttpError {
        var error = self
        error.kind = .authorization
        error.underlying = underlying
        error.retryAfter = (underlying as? any RefreshFailure)?.retryAfter ?? retryAfter
        return error
    }
}

extension Delivery {
    /// The delivery that a response implies for the request that it answers.
    init(_ response: HttpResponse<Data>) {
        // Few answers need a look for `Retry-After`.
        let hasRetryAfter = Self.overloads.contains(response.status) && response.header.retryAfter() != nil
        self.init(status: response.status, hasRetryAfter: hasRetryAfter)
    }
}
