import Foundation

/// An attempt, as interceptors, retriers and transports may know it, and the way for an interceptor to send more than the
/// attempt's own request.
public struct AttemptContext: Sendable {
    /// The attempt's number, from 1.
    public var number: Int { fixed.value.number }
    /// The origin of the service's base URL: credentials go there and nowhere else.
    public var serviceOrigin: HttpOrigin { fixed.value.serviceOrigin }
    /// How long one exchange may take; nil for no limit.
    public var timeout: Duration? { fixed.value.timeout }
    /// The time left until the call's deadline when the attempt began; nil when there is no deadline.
    public var remaining: Duration? { fixed.value.remaining }
    /// Whether the response's body is read while it comes, so that ``HttpResponse/body`` is empty on the way.
    public var streamsResponse: Bool { fixed.value.streamsResponse && !isSideRequest }
    /// The statuses that the request takes for answers; a redirect among them is not followed.
    public var acceptedStatusCodes: HttpStatusCodes { fixed.value.acceptedStatusCodes }
    /// Whether it is about a side request, which another interceptor makes by ``send(_:)``; the attempt's own goes on
    /// besides.
    public private(set) var isSideRequest = false
    /// Which call it is; ``CallIdentity/none`` in a context that a test has made.
    public var call: CallIdentity { fixed.value.call }
    /// The facts that the parts of the service noted when the call began.
    public var facts: CallFacts { fixed.value.facts }
    /// The number of the exchange that is prepared or sent, as ``CallTrace/Exchange/number``; nil for an interceptor,
    /// which may make several.
    public private(set) var exchange: Int?
    /// Ends the exchange when its time is over; nil when its task is cancelled instead, as it is for all but an
    /// ``InterruptibleTransport``.
    public private(set) var interruption: Interruption?
    /// The transport's report on the exchange; nil in a context that a test has made.
    private(set) var progress: ExchangeProgress?
    /// The attempt, for further steps of an interceptor; nil where there is no interceptor.
    private(set) var attempt: (any OngoingAttempt)?
    /// How many interceptors stand around a side request's way.
    private(set) var depth = 0
    /// The part that stays the same on the whole way.
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
        /// The calls that it is part of; nil in a context that a test has made.
        let sequence: CallSequence?
    }

    /// Creates a context, as a test of an interceptor or a transport does.
    ///
    /// - Parameters:
    ///   - number: The attempt's number. Default: 1, the first.
    ///   - serviceOrigin: The origin of the service's base URL.
    ///   - timeout: How long one exchange may take. Default: nil, no limit, so that a test needs no clock.
    ///   - remaining: The time left until the deadline. Default: nil, there is none.
    ///   - streamsResponse: Whether the response's body is read while it comes. Default: false, as of most requests.
    ///   - acceptedStatusCodes: The statuses that the request accepts. Default: the successes, as of most requests.
    ///   - interruption: Ends the exchange. Default: nil, only cancelling its task does.
    ///   - facts: The facts noted when the call began. Default: none.
    ///   - onSend: Answers ``send(_:)``. Default: nil, which then throws ``AttemptIsOver``: there is no call.
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
        sequence: CallSequence? = nil
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
                sequence: sequence
            )
        )
    }
}

extension AttemptContext: Redacted {
    /// Call and attempt, `GetNote #17, attempt 2`.
    public var description: String { "\(call), attempt \(number)" }

    /// Shows the description: a context leads to the call, and so to its credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["context": description])
    }
}

// MARK: - For interceptors

extension AttemptContext {
    /// Sends a request besides the attempt's own: a token that is drawn first, a job that is asked about.
    ///
    /// It passes the interceptors further in, is stamped by the call's retrier, follows redirects, and has the attempt's
    /// timeout. Its answer comes back as it is, any status: nothing is retried. It has an exchange of its own in the trace,
    /// an `Idempotency-Key` of its own if it has one, and answers for itself: what the server may have done with it does not
    /// keep the call from another attempt, in which you may be asked to send it again.
    ///
    /// The request for `next` is the attempt's own, or changed from it; one that means something else goes here.
    ///
    /// - Throws: ``HttpError``, as `next` does; ``AttemptIsOver`` when the interceptor has returned.
    public func send(_ request: HttpRequest) async throws -> HttpResponse<Data> {
        guard let attempt else { throw AttemptIsOver() }
        return try await attempt.send(request, past: depth)
    }

    /// Makes the same call once more, with a retrier of its own, past the hook, and as part of no call: its attempts do not
    /// multiply with this one's, and no deadline but its own ends it. Its result is dropped.
    ///
    /// For an interceptor that learns from answers, such as a cache that answers now and asks the server in a task of its
    /// own; it passes all interceptors again, this one included. Nil in a context that a test has made.
    public var callAgain: (@Sendable () async -> Void)? {
        guard let attempt, attempt.isReal else { return nil }
        return { await attempt.callAgain() }
    }

    /// Follows the fate of this attempt, from here on and until its call has ended.
    ///
    /// Called while an interceptor runs; later, and in a context that a test has made, it does nothing. The handler is
    /// released with the call.
    ///
    /// - Parameter handler: Takes one event. Called synchronously, on any task of the call: return at once.
    public func follow(_ handler: @escaping @Sendable (AttemptEvent) -> Void) {
        attempt?.follow(handler)
    }

    /// The exchanges of this attempt so far, in the order of their sending.
    public var exchanges: [CallTrace.Exchange] { attempt?.exchanges ?? [] }
}

/// An interceptor wanted to send a request for an attempt that it has returned from.
public struct AttemptIsOver: Error, Sendable, CustomStringConvertible {
    /// Creates the error.
    public init() {}

    /// The mistake, and its remedy.
    public var description: String {
        "a side request belongs to an attempt, and that is over; make a call of its own"
    }
}

/// An attempt that goes on, as its context reaches it.
protocol OngoingAttempt: Sendable {
    /// Whether there is a call to be made again.
    var isReal: Bool { get }
    var exchanges: [CallTrace.Exchange] { get }
    var isFollowed: Bool { get }
    /// - Parameter depth: How many of the interceptors it does not pass, from the outermost.
    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data>
    func callAgain() async
    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict
    func follow(_ handler: @escaping AttemptFollowers.Handler)
    func tell(_ event: AttemptEvent)
}

private struct AttemptOfATest: OngoingAttempt {
    let onSend: @Sendable (HttpRequest) async throws -> HttpResponse<Data>

    var isReal: Bool { false }
    var exchanges: [CallTrace.Exchange] { [] }
    var isFollowed: Bool { false }
    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data> { try await onSend(request) }
    func callAgain() async {}
    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict { .taken }
    func follow(_ handler: @escaping AttemptFollowers.Handler) {}
    func tell(_ event: AttemptEvent) {}
}

// MARK: - For transports

extension AttemptContext {
    /// Tells that the exchange stands in line for a connection: from here on its timeout does not count.
    ///
    /// For a transport that bounds its connections. Without it, a timeout would strike requests that never left, as
    /// soon as more are made than there are connections. The call's deadline goes on.
    public func beginWaitingForConnection() {
        progress?.beginWaiting()
    }

    /// Tells that the exchange has its connection: from here on its timeout counts.
    public func endWaitingForConnection() {
        progress?.endWaiting()
    }

    /// Tells that nothing of the request is written until ``noteSending()``, which will be told: a cancellation or a
    /// timeout that strikes before is ``Delivery/notSent``, so that even a request that must not run twice can be tried
    /// again.
    ///
    /// For a transport that knows when it writes. Without it, any exchange that ends may have been sent.
    public func beginConnecting() {
        progress?.beginConnecting()
    }

    /// Why a request must not be written any more: its user has signed out, or another one in, since it was stamped with the
    /// credential. Nil while it may go out, and for a request without a credential of the service's.
    ///
    /// For a transport in which requests wait, for a connection or for their turn: asked right before it writes, it fails
    /// with this. The call has asked before it hands the request over.
    public func endOfSession(of request: HttpRequest) -> HttpError? {
        request.isStamped ? fixed.value.sequence?.endOfSession : nil
    }

    /// Does a part of the attempt that waits, and cancels it as soon as the session is over that the call began in. A retrier
    /// or an interceptor that waits for something else than a credential does it with this.
    ///
    /// - Parameters:
    ///   - request: The request that waits. One to another origin than the service's carries no credential: its wait does not
    ///     end with the session.
    ///   - work: The wait. Something that it has brought in the moment in which it is cancelled, a place in a line, is returned:
    ///     the request is refused when it is stamped, and its place can be given back.
    /// - Returns: The value of `work`.
    /// - Throws: The error of `work`; that of ``endOfSession(of:)`` when the session is over.
    public func untilEndOfSession<Value: Sendable>(
        of request: HttpRequest,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let sequence = fixed.value.sequence, request.origin == serviceOrigin else { return try await work() }
        return try await sequence.untilEndOfSession(keepingLate: work)
    }

    /// Tells that the request is about to be written; called before the check that the exchange has not ended.
    public func noteSending() {
        progress?.noteSending()
    }

    /// Tells that a part of the body has been written: the timeout counts from here. For a transport that writes bytes in memory
    /// part by part; the parts of a stream are told of anyway.
    public func noteBodyPart() {
        progress?.notePart()
    }

    /// Tells how the exchange has come to its connection, for its record; of several the last one counts.
    public func noteConnection(_ connection: CallTrace.Exchange.Connection) {
        progress?.noteConnection(connection)
    }

    /// Tells that the header of the answer has come, so that the server's latency is not measured by the length of a body.
    ///
    /// For a transport that reads the body before it returns. Without it, the whole answer counts.
    public func noteResponseHeader() {
        progress?.noteHeader()
    }
}

// MARK: - On the way

extension AttemptContext {
    /// This context with a record of its exchange's progress, and with an end that comes without a cancellation.
    func following(_ progress: ExchangeProgress, interruption: Interruption? = nil) -> AttemptContext {
        var context = self
        context.progress = progress
        context.interruption = interruption
        return context
    }

    /// This context for the exchange of this number.
    func preparing(_ exchange: Int) -> AttemptContext {
        var context = self
        context.exchange = exchange
        return context
    }

    /// This context for an interceptor that so many others stand around.
    func within(_ attempt: any OngoingAttempt, depth: Int) -> AttemptContext {
        var context = self
        (context.attempt, context.depth) = (attempt, depth)
        return context
    }

    /// This context for a side request, whose answer is taken whole.
    var aside: AttemptContext {
        var context = self
        context.isSideRequest = true
        return context
    }
}

/// The verdict of a call's own request on an answer.
///
/// A server may say in the body of a 200 that it has failed, and a network may answer in its place with a page of its own.
/// Only the request's type knows how to read either. An interceptor that keeps answers, or gives one call the answer to
/// another, asks by ``AttemptContext/verdict(on:)``.
public enum AnswerVerdict: Sendable {
    /// It can be decoded, or is an error whose body is not decoded; also the answer of a side request, which is not
    /// decoded.
    case taken
    /// It is an error in truth (``HttpResponse/rejection(as:)``): the answer with that error's status and header.
    case rejected(HttpResponse<Data>)
    /// It cannot be decoded: it is none of this API, or none that this version of it knows.
    case undecodable
}

extension AttemptContext {
    /// The verdict of the call's request on an answer, as it came in (``HttpResponse/asReceived``).
    ///
    /// An answer to another call's exchange is to be judged before it becomes this one's: the two requests may be of
    /// types that read it differently. Decoded once; the call goes on with the decoded result.
    ///
    /// In a context that a test has made, and where the body is still to come, it is ``AnswerVerdict/taken``.
    public func verdict(on response: HttpResponse<Data>) -> AnswerVerdict {
        guard !streamsResponse, !isSideRequest else { return .taken }
        return attempt?.verdict(on: response) ?? .taken
    }
}
