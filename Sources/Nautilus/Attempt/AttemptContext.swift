import Foundation

/// An attempt as network interceptors and transports see it.
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
    public var isSubrequest: Bool { subrequest > 0 }
    /// The number of the subrequest among those of its attempt, from 1; 0 for the attempt's own request.
    public private(set) var subrequest = 0
    /// The call that the attempt belongs to; ``CallIdentity/none`` in a context that a test has made.
    public var call: CallIdentity { fixed.value.call }
    /// The way in which the service writes and reads JSON, for an interceptor or a transport that does so, too.
    public var coders: JsonCoders { fixed.value.coders?.coders ?? .standard }
    /// The number of the exchange that is being prepared or sent, as in ``CallTrace/Exchange/number``; nil for an
    /// interceptor, which may make several.
    public private(set) var exchange: Int?
    /// Ends the exchange when its time is over; nil when its task is cancelled instead, as for every transport that is
    /// not an `InterruptibleTransport`.
    package var interruption: Interruption?
    /// The transport's report on the exchange; nil in a context that a test has made.
    private(set) var progress: ExchangeProgress?
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
    public init(
        number: Int = 1,
        serviceOrigin: HttpOrigin,
        timeout: Duration? = nil,
        remaining: Duration? = nil,
        streamsResponse: Bool = false,
        acceptedStatusCodes: HttpStatusCodes = .success
    ) {
        self.init(
            number: number,
            serviceOrigin: serviceOrigin,
            timeout: timeout,
            remaining: remaining,
            streamsResponse: streamsResponse,
            acceptedStatusCodes: acceptedStatusCodes,
            call: .none
        )
    }

    init(
        number: Int,
        serviceOrigin: HttpOrigin,
        timeout: Duration?,
        remaining: Duration?,
        streamsResponse: Bool,
        acceptedStatusCodes: HttpStatusCodes,
        call: CallIdentity,
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

/// Thrown when an interceptor calls its `next` after it has returned.
struct AttemptIsOver: Error, CustomStringConvertible {
    var description: String {
        "what an interceptor sends belongs to an attempt, and that is over; make a call of its own"
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
    /// For an interceptor that keeps the answers to users separate from those to anonymous calls.
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
        isSubrequest || streamsResponse || hedged != nil ? nil : fixed.value.hedgeable
    }

    /// The sessions that the call belongs to.
    var sessions: [CallSession] { fixed.value.sessions }

    /// This context for the attempt's subrequest of this number, whose answer is read as a whole.
    func forSubrequest(_ number: Int) -> AttemptContext {
        var context = self
        context.subrequest = number
        return context
    }
}

extension AttemptContext {
    /// Whether the request is part of a running refresh, of any coordinator.
    public var isPartOfRefresh: Bool { CredentialWork.isRefresh }

    /// Whether the request brings, refreshes or revokes a credential: it is part of a running refresh, or of a
    /// session's sign-in or revocation.
    ///
    /// Other requests wait for a refresh, and a sign-in ends that wait. So an interceptor that makes one request wait
    /// for another has to let this one pass: the other request may itself be waiting for it.
    public var isForCredential: Bool { CredentialWork.isActive }
}
