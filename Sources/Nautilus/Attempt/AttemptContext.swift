import Foundation

/// An attempt as interceptors, retriers and transports see it, through which an interceptor can also send further
/// requests.
public struct AttemptContext: Sendable {
    /// The attempt's number, from 1.
    public var number: Int { fixed.value.number }
    /// The origin of the service's base URL: credentials go there and nowhere else.
    public var serviceOrigin: HttpOrigin { fixed.value.serviceOrigin }
    /// How long one exchange may take; nil for no limit.
    public var timeout: Duration? { hedged?.timeLeft ?? fixed.value.timeout }
    /// The time left until the call's deadline when the attempt began; nil when there is no deadline.
    public var remaining: Duration? { fixed.value.remaining }
    /// Whether the response's body is read while it arrives; then interceptors find ``HttpResponse/body`` empty.
    public var streamsResponse: Bool { fixed.value.streamsResponse && !isSideRequest }
    /// The statuses that the request accepts as answers; a redirect among them is not followed.
    public var acceptedStatusCodes: HttpStatusCodes { fixed.value.acceptedStatusCodes }
    /// Whether this is the context of a side request, made by another interceptor with ``send(_:)``, rather than of the
    /// attempt's own request.
    public var isSideRequest: Bool { sideRequest > 0 }
    /// The number of the side request among those of its attempt, from 1; 0 for the attempt's own request.
    public private(set) var sideRequest = 0
    /// The call that the attempt belongs to; ``CallIdentity/none`` in a context that a test has made.
    public var call: CallIdentity { fixed.value.call }
    /// The facts that the parts of the service noted when the call began.
    public var facts: CallFacts { fixed.value.facts }
    /// The way in which the service writes and reads JSON, for an interceptor or a transport that does so, too.
    public var coders: JsonCoders { fixed.value.coders?.coders ?? .standard }
    /// The number of the exchange that is being prepared or sent, as in ``CallTrace/Exchange/number``; nil for an
    /// interceptor, which may make several.
    public private(set) var exchange: Int?
    /// Ends the exchange when its time is over; nil when its task is cancelled instead, as for every transport that is
    /// not an ``InterruptibleTransport``.
    public private(set) var interruption: Interruption?
    /// The transport's report on the exchange; nil in a context that a test has made.
    private(set) var progress: ExchangeProgress?
    /// The attempt, for the interceptor's further steps; nil when there is no interceptor.
    private(set) var attempt: (any OngoingAttempt)?
    /// How many interceptors, from the outermost, a side request skips.
    private(set) var depth = 0
    /// The send, if it is one of the two of a hedge; nil if not.
    private(set) var hedged: HedgedSend?
    /// Whether a request may be held back here. False for the second send of a hedge, which a ``NetworkInterceptor`` lets
    /// through at once, or refuses by an error.
    public var mayWait: Bool { hedged?.sending != .second }
    /// The part that stays the same all the way.
    private let fixed: Boxed<Fixed>

    private struct Fixed: Sendable {
        let number: Int
        let serviceOrigin: HttpOrigin
        let timeout: Duration?
        let remaining: Duration?
        let streamsResponse: Bool
        let acceptedStatusCodes: HttpStatusCodes
        let call: CallIdentity
        let facts: CallFacts
        /// The sessions that the call belongs to.
        let sessions: [CallSession]
        /// Whether the call has credentials.
        let isAuthorized: Bool
        /// The service's coders; nil for the standard ones.
        let coders: JsonCoders.Carried?
        /// The call as a hedge has to know it; nil in a context that a test has made.
        let hedgeable: HedgeableCall?
    }

    /// Creates a context, as a test of an interceptor or a transport does.
    ///
    /// - Parameters:
    ///   - number: The attempt's number. Default: 1, the first.
    ///   - serviceOrigin: The origin of the service's base URL.
    ///   - timeout: How long one exchange may take. Default: nil, no limit, so that a test needs no clock.
    ///   - remaining: The time left until the deadline. Default: nil, there is none.
    ///   - streamsResponse: Whether the response's body is read while it arrives. Default: false, as for most requests.
    ///   - acceptedStatusCodes: The statuses that the request accepts. Default: the successes, as for most requests.
    ///   - interruption: Ends the exchange. Default: nil, only cancelling its task does.
    ///   - facts: The facts noted when the call began. Default: none.
    ///   - onSend: Answers ``send(_:)``. Default: nil; then it throws ``AttemptIsOver``, since there is no call.
    public init(
        number: Int = 1,
        serviceOrigin: HttpOrigin,
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        streamsResponse: Bool = false,
        acceptedStatusCodes: HttpStatusCodes = .success,
        interruption: Interruption? = nil,
        facts: CallFacts = CallFacts(),
        onSend: (@Sendable (HttpRequest) async throws -> HttpResponse<Data>)? = nil
    ) {
        self.init(
            number: number,
            serviceOrigin: serviceOrigin,
            timeout: timeout,
            remaining: remaining,
            streamsResponse: streamsResponse,
            acceptedStatusCodes: acceptedStatusCodes,
            call: .none,
            facts: facts
        )
        self.interruption = interruption
        self.attempt = onSend.map(AttemptOfATest.init)
    }

    init(
        number: Int,
        serviceOrigin: HttpOrigin,
        timeout: Duration?,
        remaining: Duration?,
        streamsResponse: Bool,
        acceptedStatusCodes: HttpStatusCodes,
        call: CallIdentity,
        facts: CallFacts,
        sessions: [CallSession] = [],
        isAuthorized: Bool = false,
        coders: JsonCoders.Carried? = nil,
        hedgeable: HedgeableCall? = nil
    ) {
        fixed = Boxed(
            Fixed(
                number: number,
                serviceOrigin: serviceOrigin,
                timeout: timeout,
                remaining: remaining,
                streamsResponse: streamsResponse,
                acceptedStatusCodes: acceptedStatusCodes,
                call: call,
                facts: facts,
                sessions: sessions,
                isAuthorized: isAuthorized,
                coders: coders,
                hedgeable: hedgeable
            )
        )
    }
}

extension AttemptContext: Redacted {
    /// The call and the attempt, `GetNote #17, attempt 2`.
    public var description: String { "\(call), attempt \(number)" }

    /// Shows the description: the stored properties lead to the call, and so to its credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["context": description])
    }
}

// MARK: - For interceptors

extension AttemptContext {
    /// Sends a request in addition to the attempt's own, for instance to fetch a token first, or to poll a job.
    ///
    /// It passes the interceptors further in, is stamped by the call's retrier, follows redirects, and has the
    /// attempt's timeout. Its answer is returned as it is, whatever its status, and nothing is retried. It has an
    /// exchange of its own in the trace, and an `Idempotency-Key` of its own if it has one. It counts only for itself:
    /// what the server may have done with it does not keep the call from another attempt, in which you may be asked to
    /// send it again.
    ///
    /// Pass the attempt's own request, changed or not, to `next`; send a request with any other meaning by this method.
    ///
    /// - Throws: ``HttpError``, as `next` does; ``AttemptIsOver`` when the interceptor has returned.
    public func send(_ request: HttpRequest) async throws -> HttpResponse<Data> {
        guard let attempt else { throw AttemptIsOver() }
        return try await attempt.send(request, past: depth)
    }

    /// Makes the same call again, with a retrier of its own, without the hook, and outside of this call: its attempts
    /// do not multiply with this call's, and no deadline but its own ends it. Its result is dropped.
    ///
    /// For an interceptor that learns from answers, such as a cache that answers at once and asks the server in a task
    /// of its own. The call passes all interceptors again, including this one. Nil in a context that a test has made.
    public var callAgain: (@Sendable () async -> Void)? {
        guard let attempt, attempt.isReal else { return nil }
        return { await attempt.callAgain() }
    }

    /// Follows this attempt from now on, until its call has ended.
    ///
    /// Call it while an interceptor runs; later, and in a context that a test has made, it does nothing. The handler is
    /// released with the call.
    ///
    /// - Parameter handler: Takes one event. Called synchronously, on any task of the call: return at once.
    public func follow(_ handler: @escaping @Sendable (AttemptEvent) -> Void) {
        attempt?.follow(handler)
    }

    /// The exchanges of this attempt so far, in the order in which they were sent.
    public var exchanges: [CallTrace.Exchange] { attempt?.exchanges ?? [] }
}

/// Thrown when an interceptor sends a request for an attempt that it has already returned from.
public struct AttemptIsOver: Error, Sendable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// The mistake, and how to correct it.
    public var description: String {
        "a side request belongs to an attempt, and that is over; make a call of its own"
    }
}

// MARK: - For transports

extension AttemptContext {
    /// Notes that the exchange waits for a connection: from here on its timeout does not count.
    ///
    /// For a transport with a limited number of connections. Without this, requests would time out before they are
    /// sent, as soon as there are more requests than connections. The call's deadline still counts.
    public func beginWaitingForConnection() {
        progress?.beginWaiting()
    }

    /// Notes that the exchange has its connection: from here on its timeout counts.
    public func endWaitingForConnection() {
        progress?.endWaiting()
    }

    /// Notes that nothing of the request is written before the transport calls ``noteSending()``. A cancellation or a
    /// timeout before that is ``Delivery/notSent``, so that even a request that must not run twice can be tried again.
    ///
    /// For a transport that knows when it writes. Without this, any exchange that ends may have been sent.
    public func beginConnecting() {
        progress?.beginConnecting()
    }

    /// Whether the call is to put a user's credential on a request, once the interceptors are through: it has one, and
    /// the request goes to the service's origin. False in a context that a test has made.
    ///
    /// For an interceptor that keeps the answers to users apart from those to guests.
    public func willAuthorize(_ request: HttpRequest) -> Bool {
        fixed.value.isAuthorized && request.origin == serviceOrigin
    }

    /// Does a part of the attempt that waits, and cancels it as soon as the session in which the call began is over.
    ///
    /// - Parameter work: The wait. If it still returns a value when it is cancelled, such as a slot in a queue, that value
    ///   is returned: the request is refused later, before it is written, and its slot can be given back.
    /// - Returns: The value of `work`.
    /// - Throws: The error of `work`; the session's end when it is over.
    public func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await fixed.value.sessions.wait(work)
        } catch let error as RefreshError where fixed.value.sessions.end != nil {
            throw HttpError(wrapping: error, stage: .prepare, delivery: .notSent)
        }
    }

    /// Notes that the request is about to be written; to be called before the check that the exchange has not ended.
    public func noteSending() {
        progress?.noteSending()
    }

    /// Notes that a part of the body has been written: the timeout counts from here. For a transport that writes bytes
    /// in memory part by part; parts of a stream are noted automatically.
    public func noteBodyPart() {
        progress?.notePart()
    }

    /// Notes how the exchange has got its connection, for its record; if called several times, the last one counts.
    public func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        progress?.noteConnection(connection)
    }

    /// Notes that the header of the answer has arrived, so that the server's latency does not include the length of the
    /// body.
    ///
    /// For a transport that reads the body before it returns. Without this, the time of the whole answer counts.
    public func noteResponseHeader() {
        progress?.noteHeader()
    }

    /// Notes the answer as far as it could be read, so that its status outlives a failure of its body.
    ///
    /// A transport calls this before it throws because of a body, and may call it when a status from 300 on arrives, since
    /// the timeout may end the wait for it. An unaccepted status is then the answer; any other is part of the error.
    public func noteAnswer(_ response: HttpResponse<Data>) {
        progress?.noteAnswer(response)
    }
}

// MARK: - On the way

extension AttemptContext {
    /// This context with a record of the exchange's progress, and with an interruption that can end it without
    /// cancellation.
    func following(_ progress: ExchangeProgress, interruption: Interruption? = nil) -> AttemptContext {
        var context = self
        context.progress = progress
        context.interruption = interruption
        return context
    }

    /// This context for the exchange with this number.
    func preparing(_ exchange: Int) -> AttemptContext {
        var context = self
        context.exchange = exchange
        return context
    }

    /// This context for one of the two sends of a hedge.
    func sending(_ hedged: HedgedSend) -> AttemptContext {
        var context = self
        context.hedged = hedged
        return context
    }

    /// The call, if this attempt's own request may be sent twice; nil otherwise.
    var hedgeable: HedgeableCall? {
        isSideRequest || streamsResponse || hedged != nil ? nil : fixed.value.hedgeable
    }

    /// The sessions that the call belongs to.
    var sessions: [CallSession] { fixed.value.sessions }

    /// This context for an interceptor with `depth - 1` interceptors around it.
    func within(_ attempt: any OngoingAttempt, depth: Int) -> AttemptContext {
        var context = self
        (context.attempt, context.depth) = (attempt, depth)
        return context
    }

    /// This context for the attempt's side request of this number, whose answer is read as a whole.
    func aside(_ number: Int) -> AttemptContext {
        var context = self
        context.sideRequest = number
        return context
    }
}

/// The judgement of an answer by the request of the call.
///
/// A server may report a failure in the body of a 200, and a network may answer in its place with a page of its own.
/// Only the request's type knows how to read either. An interceptor that keeps answers, or passes one call's answer on
/// to another, asks for it by ``AttemptContext/verdict(on:)``.
public enum AnswerVerdict: Sendable {
    /// The answer can be decoded, or is an error whose body is not decoded, or answers a side request, which is not
    /// decoded.
    case taken
    /// The request gives the answer another status (``Request/status(of:)``), with which the response is given here.
    case rejected(HttpResponse<Data>)
    /// The answer cannot be decoded: it does not come from this API, or not from a version that the request knows.
    case undecodable
}

extension AttemptContext {
    /// The judgement of an answer, as it was received (``HttpResponse/asReceived``), by the call's request.
    ///
    /// Ask for it before an answer to another call's exchange is used for this call: the two requests may be of types
    /// that read it differently.
    ///
    /// In a context that a test has made, and when the body is still to come, it is ``AnswerVerdict/taken``.
    public func verdict(on response: HttpResponse<Data>) -> AnswerVerdict {
        guard !streamsResponse, !isSideRequest else { return .taken }
        return attempt?.verdict(on: response) ?? .taken
    }
}

extension AttemptContext {
    /// Whether the request is part of a running refresh, of any coordinator.
    public var isPartOfRefresh: Bool { CredentialWork.isRefresh }

    /// Whether the request brings, renews or revokes a credential: it is part of a running refresh, or of a session's
    /// sign-in or revocation.
    ///
    /// Other requests wait for a refresh, and a sign-in ends that wait. So an interceptor that makes one request wait
    /// for another has to let this one pass: the other request may itself be waiting for it.
    public var isForCredential: Bool { CredentialWork.isActive }
}
