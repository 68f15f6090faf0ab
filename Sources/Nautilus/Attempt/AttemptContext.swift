import Foundation

/// An attempt as network interceptors see it.
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
    public var streamsResponse: Bool { fixed.value.streamsResponse && !isSubrequest }
    /// The statuses that the request accepts as answers; a redirect among them is not followed.
    public var acceptedStatusCodes: HttpStatusCodes { fixed.value.acceptedStatusCodes }
    /// Whether this is the context of a subrequest, made by a call interceptor with ``CallContext/send(_:)``, rather
    /// than of the attempt's own request.
    package var isSubrequest: Bool { subrequest > 0 }
    /// The number of the subrequest among those of its attempt, from 1; 0 for the attempt's own request.
    package private(set) var subrequest = 0
    /// The call that the attempt belongs to; ``CallIdentity/none`` in a context that a test has made.
    public var call: CallIdentity { fixed.value.call }
    /// Ends the exchange when its time is over; nil when its task is cancelled instead.
    private var interruption: Interruption?
    /// The transport's report on the exchange; nil before that.
    private var progress: ExchangeProgress?
    /// The send, if it is one of the two of a hedge; nil if not.
    private(set) var hedged: HedgedSend?
    /// Whether a request may be held back here. False for the second send of a hedge, which a ``NetworkInterceptor``
    /// lets through at once, or refuses by an error.
    public var mayWait: Bool { hedged?.sending != .second }
    /// The part that stays the same all the way.
    private let fixed: Boxed<Fixed>

    struct Fixed: Sendable {
        let number: Int
        let serviceOrigin: HttpOrigin
        let timeout: Duration?
        let remaining: Duration?
        let streamsResponse: Bool
        let acceptedStatusCodes: HttpStatusCodes
        let call: CallIdentity
        /// The sessions that the call belongs to.
        var sessions: [CallSession] = []
        /// Whether the call has credentials.
        var isAuthorized = false
        /// The service's coders; nil for the standard ones.
        var coders: JsonCoders.Carried?
        /// The call as a hedge has to know it; nil in a context that a test has made.
        var hedgeable: HedgeableCall?
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
    public init(
        number: Int = 1,
        serviceOrigin: HttpOrigin,
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        streamsResponse: Bool = false,
        acceptedStatusCodes: HttpStatusCodes = .success
    ) {
        self.init(
            Fixed(
                number: number,
                serviceOrigin: serviceOrigin,
                timeout: timeout,
                remaining: remaining,
                streamsResponse: streamsResponse,
                acceptedStatusCodes: acceptedStatusCodes,
                call: .none
            )
        )
    }

    init(_ fixed: Fixed) { self.fixed = Boxed(fixed) }
}

extension AttemptContext: Redacted {
    /// The call and the attempt, `GetNote (call 17), attempt 2`.
    public var description: String { "\(call), attempt \(number)" }
}

/// Thrown when an interceptor calls its `next` after it has returned.
struct AttemptIsOver: Error, CustomStringConvertible {
    var description: String {
        "what an interceptor sends belongs to an attempt, and that is over; make a call of its own"
    }
}

extension AttemptContext {
    /// Whether the call is to put a user's credential on a request, once the interceptors are through: it has one, and
    /// the request goes to the service's origin. False in a context that a test has made.
    ///
    /// For an interceptor that keeps the answers to users separate from those to anonymous calls.
    package func willAuthorize(_ request: HttpRequest) -> Bool {
        fixed.value.isAuthorized && request.origin == serviceOrigin
    }

    /// Does a part of the attempt that waits, and cancels it as soon as the session in which the call began is over.
    ///
    /// - Parameter work: The wait. If it still returns a value when it is cancelled, such as a slot in a queue, that
    ///   value is returned: the request is refused later, before it is written, and its slot can be given back.
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
}

// MARK: - On the way

extension AttemptContext {
    /// This context with a record of the exchange's progress, and with an interruption that can end it without
    /// cancellation.
    func following(_ progress: ExchangeProgress, interruption: Interruption? = nil) -> AttemptContext {
        var context = self
        (context.progress, context.interruption) = (progress, interruption)
        return context
    }

    /// What the transport is told of the exchange.
    var forTransport: TransportContext {
        TransportContext(
            call: call,
            number: number,
            timeout: timeout,
            remaining: remaining,
            coders: fixed.value.coders,
            progress: progress,
            interruption: interruption
        )
    }

    /// This context for one of the two sends of a hedge.
    func sending(_ hedged: HedgedSend) -> AttemptContext {
        var context = self
        context.hedged = hedged
        return context
    }

    /// The call, if this attempt's own request may be sent twice; nil otherwise.
    package var hedgeable: HedgeableCall? {
        isSubrequest || streamsResponse || hedged != nil ? nil : fixed.value.hedgeable
    }

    /// The sessions that the call belongs to.
    var sessions: [CallSession] { fixed.value.sessions }
    /// Whether the session in which the call began is over.
    package var isSessionOver: Bool { sessions.end != nil }

    /// This context for the attempt's subrequest of this number, whose answer is read as a whole.
    func forSubrequest(_ number: Int) -> AttemptContext {
        var context = self
        context.subrequest = number
        return context
    }
}

extension AttemptContext {
    /// Whether the request is part of a running refresh, of any coordinator.
    package var isPartOfRefresh: Bool { CredentialWork.isRefresh }

    /// Whether the request brings, refreshes or revokes a credential: it is part of a running refresh, or of a
    /// session's sign-in or revocation.
    ///
    /// Other requests wait for a refresh, and a sign-in ends that wait. So an interceptor that makes one request wait
    /// for another has to let this one pass: the other request may itself be waiting for it.
    public var isForCredential: Bool { CredentialWork.isActive }
}
