import Foundation

/// The failure of a call: the last real one, with all that is known of it, and the trace of the whole call.
public struct HttpError: Error, Sendable {
    /// Where on the path of a call it happened.
    public typealias Stage = CallStage
    /// The kind of failure.
    public typealias Kind = FailureKind

    /// The stage of the call's path at which it failed.
    public var stage: Stage {
        get { fields.value.stage }
        set { fields.value.stage = newValue }
    }
    /// The kind of the failure.
    public var kind: Kind {
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
    /// The response, its body cut to ``bodyLimit``, and where it was read while it came, to the part that came within
    /// ``bodyTime``; nil when there was none.
    public var response: HttpResponse<Data>? {
        get { fields.value.response }
        set { fields.value.response = newValue }
    }
    /// Where redirects led before the failure; nil when there were none.
    public var redirects: RedirectSummary? {
        get { fields.value.redirects }
        set { fields.value.redirects = newValue }
    }
    /// How long the server asks to wait, from when the response came; for how long a refusal of this side holds; or when
    /// the next refresh may start, after one that failed. Nil when it is not said, or not validly.
    public var retryAfter: Duration? {
        get { fields.value.retryAfter }
        set { fields.value.retryAfter = newValue }
    }
    /// The exchange whose answer or failure it is, of another call when the answer was shared (``CallTrace/Exchange/call``
    /// tells); nil when nothing was sent, and when an interceptor, a hook or the framework failed by itself.
    public var exchange: CallTrace.Exchange? {
        get { fields.value.exchange }
        set { fields.value.exchange = newValue }
    }
    /// The agreement of all calls that failed by the same answer; nil when it is this call's alone.
    public var sharedAnswer: SharedAnswer? {
        get { fields.value.sharedAnswer }
        set { fields.value.sharedAnswer = newValue }
    }
    /// The call that failed; ``CallIdentity/none`` before a call has taken the error up.
    public var call: CallIdentity {
        get { fields.value.call }
        set { fields.value.call = newValue }
    }
    /// Whether it is the end of a stream's connection that had served: an event or a message has come over it, or it
    /// has lasted for ten seconds. No retry follows but the stream's next connection, which costs no budget; a retrier
    /// of your own that keeps one asks for this.
    public var hadServed: Bool {
        get { fields.value.hadServed }
        set { fields.value.hadServed = newValue }
    }
    /// The error underneath; nil when the failure is the framework's own finding.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue }
    }
    /// The failed attempt's number, from 1; 0 when the call failed before its first.
    public var attempt: Int {
        get { fields.value.attempt }
        set { fields.value.attempt = newValue }
    }
    /// The trace of the whole call; empty while the retrier is asked.
    public var trace: CallTrace {
        get { fields.value.trace }
        set { fields.value.trace = newValue }
    }
    /// The coders of the call's service; nil for the standard ones, and before a call has taken the error up.
    var coders: JsonCoders.Carried? {
        get { fields.value.coders }
        set { fields.value.coders = newValue }
    }
    /// Whether it is the failure of a side request.
    var isAside: Bool {
        get { fields.value.isAside }
        set { fields.value.isAside = newValue }
    }
    /// Whether a call has ended with it: inside another call it is not that call's own.
    public var isFinal: Bool { fields.value.isFinal }

    /// Notes that a call has ended with it.
    mutating func markFinal() { fields.value.isFinal = true }

    /// The most bytes of a response's body that an error keeps: 64 KiB, ample for an error document and small
    /// enough to keep errors around.
    public static let bodyLimit = 65_536

    /// How long the body of a streamed response is waited for once its header has said that it is an error: a second,
    /// in all. The status is known then (RFC 9110 §6), and a failure, or another attempt, is not to wait for a mere
    /// account of it; an error document comes right behind its header.
    public static let bodyTime = Duration.seconds(1)

    /// Creates an error, as a retrier that fails with its own, or a test, does. Its trace is empty; the call fills it.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - stage: Where on the path of a call.
    ///   - delivery: How far the request may have got. Default: `maybeExecuted`, the assumption that repeats nothing by
    ///     mistake.
    ///   - request: The request. Default: nil, none could be built.
    ///   - response: The response, its body cut to ``bodyLimit``. Default: nil, there was none.
    ///   - retryAfter: How long the server asks to wait. Default: nil, it does not say.
    ///   - underlying: The error that led to it. Default: nil, none did.
    ///   - attempt: The failed attempt's number. Default: 0, none had begun.
    public init(
        _ kind: Kind,
        stage: Stage,
        delivery: Delivery = .maybeExecuted,
        request: RequestSummary? = nil,
        response: HttpResponse<Data>? = nil,
        retryAfter: Duration? = nil,
        underlying: (any Error)? = nil,
        attempt: Int = 0
    ) {
        // A copy: a slice would keep the whole body in memory.
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
                sharedAnswer: response?.sharedAnswer,
                underlying: underlying,
                attempt: attempt,
                trace: CallTrace()
            )
        )
    }

    /// Its fields, in a block of their own: there are too many to move from stage to stage.
    private var fields: Boxed<Fields>

    private struct Fields: Sendable {
        var stage: Stage
        var kind: Kind
        var delivery: Delivery
        var request: RequestSummary?
        var response: HttpResponse<Data>?
        var redirects: RedirectSummary?
        var retryAfter: Duration?
        var exchange: CallTrace.Exchange?
        var sharedAnswer: SharedAnswer?
        var call: CallIdentity = CallIdentity.none
        var hadServed: Bool = false
        var underlying: (any Error)?
        var attempt: Int
        var trace: CallTrace
        var coders: JsonCoders.Carried?
        var isAside: Bool = false
        var isFinal: Bool = false
    }

    /// The response's status; nil when there was no response.
    public var status: Int? { response?.status }

    /// Whether another attempt can execute nothing twice: the server has not acted on anything that this one sent, or
    /// acting twice has the effect of acting once.
    ///
    /// A retrier that repeats an attempt after a failure asks it first. It speaks of the whole attempt: an interceptor may
    /// have sent more than the request that failed.
    public var isSafeToRepeat: Bool {
        delivery != .maybeExecuted || request?.isIdempotent == true
    }

    /// Whether it was held back on this side, so that no word of it is the server's.
    var isRefusal: Bool {
        if case .refused = kind { true } else { false }
    }
}

extension HttpError {
    /// The body of the response, decoded: the server's own account of its refusal, for a service's own error.
    ///
    /// ```swift
    /// func mapError(_ error: HttpError) -> NotesError {
    ///     error.responseBody(as: Problem.self).map(NotesError.refused) ?? .failed(error)
    /// }
    /// ```
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder. Default: nil, a new one of the service's ``HttpService/coders``.
    /// - Returns: Nil when nothing was refused: there was no response, or one whose status is a success and whose body
    ///   did not decode. Nil also when the body is something else, and when it is larger than ``bodyLimit``, of which an
    ///   error keeps only the beginning.
    public func responseBody<Body: Decodable>(
        as type: Body.Type = Body.self,
        decoder: JSONDecoder? = nil
    ) -> Body? {
        guard let response, hasRefused(by: response) else { return nil }
        return try? (decoder ?? coders.decoder()).decode(type, from: response.body)
    }

    /// The server's account of its refusal; nil when it gave none as `application/problem+json`, and when nothing was
    /// refused.
    public var problem: ProblemDetails? {
        guard let type = response?.header[.contentType].flatMap({ HttpMimeType($0) }),
            type.essence == "application/problem+json"
        else { return nil }
        // Its members' names are the standard's, and not the service's.
        return responseBody(as: ProblemDetails.self, decoder: JSONDecoder())
    }

    /// Whether the server has refused by `response`: by its status, or in a success that a request takes for a refusal.
    private func hasRefused(by response: HttpResponse<Data>) -> Bool {
        if case .status = kind { return true }
        return !(200..<300).contains(response.status)
    }
}
