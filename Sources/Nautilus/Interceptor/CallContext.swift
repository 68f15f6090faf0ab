import Foundation

/// A call as its interceptors see it, through which they can also send subrequests.
///
/// Not `Sendable`: it belongs to the call's task.
public struct CallContext {
    /// The call; ``CallIdentity/none`` in a context that a test has made.
    public var call: CallIdentity { attempt.call }
    /// The origin of the service's base URL: credentials go there and nowhere else.
    public var serviceOrigin: HttpOrigin { attempt.serviceOrigin }
    /// How long one exchange may take; nil for no limit.
    package var timeout: Duration? { attempt.timeout }
    /// The time left until the call's deadline when it began; nil when there is no deadline.
    public var remaining: Duration? { attempt.remaining }
    /// Whether the response's body is read while it arrives; then interceptors find ``HttpResponse/body`` empty.
    public var streamsResponse: Bool { attempt.streamsResponse }
    /// The statuses that the request accepts as answers.
    package var acceptedStatusCodes: HttpStatusCodes { attempt.acceptedStatusCodes }
    /// Whether the call is anonymous, as ``HttpService/anonymous`` and ``Request/isAnonymous`` make it: it has no user.
    public var isAnonymous: Bool { path.isAnonymous }
    /// The account of the call's user, as this interceptor has named it (``CallInterceptor/account(of:)``) when the
    /// call was bound. Nil when it has named none, or names another one by now.
    public var account: String? { path.account(at: depth) }
    /// Whether the call may be answered from a cache, or by the answer to another call. False once its request could not
    /// read such an answer: then it wants one to a request of its own.
    public let mayShare: Bool
    /// The key of the service's retriers (``RetrierFactory/sharingKey``); nil when the call shares with nobody.
    package var sharingKey: SharingKey? { path.sharingKey }

    private let attempt: AttemptContext
    private let path: any CallPath
    /// How many interceptors are further out.
    private let depth: Int

    /// Creates a context, as a test of an interceptor does.
    ///
    /// - Parameters:
    ///   - serviceOrigin: The origin of the service's base URL.
    ///   - streamsResponse: Whether the response's body is read while it arrives. Default: false, as for most requests.
    ///   - isAnonymous: Whether the call is anonymous. Default: false, as for most calls.
    ///   - account: The account of the call's user. Default: nil, none.
    ///   - mayShare: Whether the call may be answered from a cache, or by another call's answer. Default: true.
    public init(
        serviceOrigin: HttpOrigin,
        streamsResponse: Bool = false,
        isAnonymous: Bool = false,
        account: String? = nil,
        mayShare: Bool = true
    ) {
        attempt = AttemptContext(serviceOrigin: serviceOrigin, streamsResponse: streamsResponse)
        path = NoCall(isAnonymous: isAnonymous, account: account)
        (self.mayShare, depth) = (mayShare, 0)
    }

    init(_ path: any CallPath, _ attempt: AttemptContext, mayShare: Bool, depth: Int) {
        (self.path, self.attempt, self.mayShare, self.depth) = (path, attempt, mayShare, depth)
    }

    /// Sends a subrequest: a request in addition to the call's own, for instance to fetch a token first, or to poll a
    /// job. Send subrequests one after the other.
    ///
    /// It passes the network tier, is authorized by the call's credentials, follows redirects, and has the attempt's
    /// timeout. Its answer is returned as it is, whatever its status, and nothing is retried. It has an exchange of its
    /// own in the trace, and an `Idempotency-Key` of its own if it has one. It counts only for itself: what the server
    /// may have done with it does not keep the call from another attempt.
    ///
    /// Pass the call's own request, changed or not, to `next`; send a request with any other meaning by this method.
    ///
    /// - Throws: ``HttpError``; another error in a context that a test has made, which has no call.
    public func send(_ request: HttpRequest) async throws -> HttpResponse<Data> {
        try await path.sendSubrequest(request, attempt)
    }

    /// Makes the same call again, with a retrier of its own, without the hook, and outside of this call: no deadline
    /// but its own ends it. Its result is dropped.
    ///
    /// For an interceptor that learns from answers, such as a cache that answers at once and asks the server in a task
    /// of its own. The call passes all interceptors again, including this one. Nil in a context that a test has made.
    public var callAgain: (@Sendable () async -> Void)? { path.again }

    /// The server's last answer to the call's request, whatever its status; nil as long as there is none. When `next`
    /// throws because of a status, this is the whole response, of which the error keeps only a part.
    package var lastAnswer: HttpResponse<Data>? { path.lastAnswer }

    /// Whether the call is to put a user's credential on a request: it has one, and the request goes to the service's
    /// origin. False in a context that a test has made.
    ///
    /// For an interceptor that keeps the answers to users separate from those to anonymous calls.
    package func willAuthorize(_ request: HttpRequest) -> Bool { attempt.willAuthorize(request) }

    /// Whether the last attempt was not repeated for want of time.
    package var hasRunOutOfTime: Bool { path.hasRunOutOfTime }
    /// Whether the session in which the call began is over.
    package var isSessionOver: Bool { attempt.isSessionOver }
    /// Whether an attempt of the call may have been executed whose answer was lost.
    package var hasLostAnswer: Bool { path.hasLostAnswer }
    /// The statuses that interceptors further out take for answers, and whether they leave all failures to the retrier.
    package var outerTerms: (accepted: HttpStatusCodes, retriesAll: Bool) {
        (path.terms.accepted, path.terms.surfaces == nil)
    }

    /// Does a part of the call that waits, and cancels it as soon as the session in which the call began is over.
    ///
    /// - Parameter work: The wait. If it still returns a value when it is cancelled, that value is returned.
    /// - Returns: The value of `work`.
    /// - Throws: The error of `work`; the session's end when it is over.
    public func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await attempt.wait(work)
    }

    /// Whether the call is part of a refresh of a credential.
    package var isPartOfRefresh: Bool { CredentialWork.isRefresh }
    /// Whether the call is part of a refresh, a sign-in or a revocation.
    public var isForCredential: Bool { CredentialWork.isActive }
}

/// The call as its context sees it: what a call interceptor can ask and do beside passing the request on.
protocol CallPath: AnyObject {
    var isAnonymous: Bool { get }
    var sharingKey: SharingKey? { get }
    var lastAnswer: HttpResponse<Data>? { get }
    /// Makes the same call again.
    var again: (@Sendable () async -> Void)? { get }
    var terms: AttemptTerms { get }
    var hasRunOutOfTime: Bool { get }
    var hasLostAnswer: Bool { get }
    /// The call's account as the interceptor at `depth` names it.
    func account(at depth: Int) -> String?
    func sendSubrequest(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpResponse<Data>
}

/// In place of the call in a context that a test has made.
private final class NoCall: CallPath {
    let isAnonymous: Bool
    let sharingKey = AnyRetrierFactory.never.sharingKey
    private let account: String?
    var lastAnswer: HttpResponse<Data>? { nil }
    var again: (@Sendable () async -> Void)? { nil }
    var terms: AttemptTerms { AttemptTerms() }
    var hasRunOutOfTime: Bool { false }
    var hasLostAnswer: Bool { false }

    init(isAnonymous: Bool, account: String?) {
        (self.isAnonymous, self.account) = (isAnonymous, account)
    }

    func account(at depth: Int) -> String? { account }

    func sendSubrequest(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpResponse<Data> {
        throw AttemptIsOver()
    }
}

extension CallContext: Redacted {
    /// The call, `GetNote #17`.
    public var description: String { "\(call)" }
}
