import Foundation

/// Makes one exchange of identical GETs that are under way at the same time: the first is sent, the others get its
/// answer.
///
/// ```swift
/// struct NotesService: HttpService {
///     let coalescing = RequestCoalescing(accounts: .separate { _ in session.userId })
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [coalescing] }
/// }
/// ```
/// Keep it in a stored property: one that is made anew in `interceptors` sees no two requests. Put it behind an
/// ``HttpCache``, and before whatever holds requests back.
///
/// Identical are requests with the same method, GET or HEAD, the same URL, header and timeout, and of the same account.
/// Unlike a cache, it needs no word of the server for it, since all of them were asked for before the answer came. Whoever
/// asks after a POST, or another method that is not safe, has come back from here gets no answer from before it.
///
/// What followers share: every answer but 401, 407 and a redirect, and every failure of the network, of timeouts and of
/// limits. A redirect comes here when the first one's type accepts it, and another's may follow it: each goes on alone.
/// Each has its own retrier, so that they repeat it at different moments. What is one call's own is not shared: when
/// the first is cancelled, runs past its deadline or gets no credential, or its credential is refused, the one who has
/// waited for longest takes its place, and the others go on waiting. Each waits until its own deadline at most.
/// Requests that a refresh makes go alone: whoever they waited for might wait for the refresh.
public final class RequestCoalescing: HttpInterceptor {
    typealias Outcome = Result<HttpResponse<Data>, HttpError>
    typealias Verdict = CoalescingVerdict<Shared>
    typealias Waiter = CheckedContinuation<Verdict, any Error>
    typealias Core = CoalescingCore<CoalescingKey, Shared, Waiter>

    /// An outcome, and what the exchange has carried.
    struct Shared: Sendable {
        let outcome: Outcome
        let watch: CredentialWatch
    }

    private let accounts: CacheAccounts
    private let ignoredNames: Set<HttpHeader.Name>
    private let core = Locked(Core())

    /// Creates one that knows of no request.
    ///
    /// - Parameters:
    ///   - accounts: How answers to different users are kept apart. Default: as soon as it turns out that a request
    ///     carries a credential, the others go on alone: nobody has said that they are the same user's.
    ///   - ignoredNames: Fields that may differ between identical requests, such as one with a number for each.
    ///     Default: none, since any field may decide about the answer.
    public init(accounts: CacheAccounts = .anonymousOnly, ignoring ignoredNames: Set<HttpHeader.Name> = []) {
        (self.accounts, self.ignoredNames) = (accounts, ignoredNames)
    }

    /// How many exchanges are under way here now.
    public var exchangeCount: Int { core.withLock { $0.counts.flights } }

    /// How many requests wait for another's answer now.
    public var waitingCount: Int { core.withLock { $0.counts.followers } }

    /// Sends the request, or waits for the answer to an identical one that was asked for since the last change.
    ///
    /// - Throws: `CancellationError`, at once, when the call is cancelled while it waits. Otherwise what the exchange
    ///   throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        if CacheStorage.isUnsafe(request.method) { return try await change(request, next) }
        // A body that is read while it comes has one reader.
        guard request.method == .get || request.method == .head, request.body.isEmpty, !context.streamsResponse,
            mayWait, let target = CacheTarget(request)
        else { return try await next(request) }
        let partition = accounts.partition(for: request)
        if partition.account == nil, request.hasCredential { return try await next(request) }
        let changes = core.withLock { $0.changes }
        let key = CoalescingKey(request, target, partition, context.timeout, after: changes, ignoring: ignoredNames)
        // Asked here, without a suspension: mostly nobody else asks for the same.
        switch core.withLock({ $0.begin(key) }) {
        case .lead(let ticket): return try await lead(key, ticket, request, next)
        case .follow: break
        }
        switch try await follow(key) {
        case .lead(let ticket): return try await lead(key, ticket, request, next)
        case .goAlone: return try await next(request)
        case .share(let shared):
            // Whoever keeps the answer has to know what it was an answer to.
            CredentialWatch.current?.note(sharing: shared.watch)
            return try shared.outcome.get()
        }
    }
}

extension RequestCoalescing {
    /// Whether nobody waits for the current task who might be waited for here: a refresh, or an exchange of this one.
    private var mayWait: Bool {
        !RefreshScope.isActive && CredentialWatch.current?.isWithin(self) != true
    }

    /// Sends what may change something. Which URLs show it nobody knows here; asking once more for another one costs
    /// little.
    private func change(_ request: HttpRequest, _ next: Next) async throws -> HttpResponse<Data> {
        do {
            let response = try await next(request)
            core.withLock { $0.noteChange() }
            return response
        } catch {
            // An answer that got lost may have been a good one.
            if (error as? HttpError)?.delivery != .notSent { core.withLock { $0.noteChange() } }
            throw error
        }
    }

    private func lead(
        _ key: CoalescingKey,
        _ ticket: Int,
        _ request: HttpRequest,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let watch = CredentialWatch(accounts, key.partition, in: self) { [core] in
            Self.tell(core.withLock { $0.disband(key, leader: ticket) })
        }
        do {
            let response = try await CredentialWatch.$current.withValue(watch) { try await next(request) }
            switch response.status {
            case 401, 407: end(key, ticket, nil, watch, request)
            // Whether it is followed is the type's own word, which is not seen here.
            case 301, 302, 303, 307, 308: disband(key, ticket)
            default: end(key, ticket, .success(response), watch, request)
            }
            return response
        } catch {
            let failure = error as? HttpError
            if case .redirect = failure?.kind { disband(key, ticket) }
            end(key, ticket, failure.flatMap { $0.isForAll ? .failure($0) : nil }, watch, request)
            throw error
        }
    }

    private func end(
        _ key: CoalescingKey,
        _ ticket: Int,
        _ outcome: Outcome?,
        _ watch: CredentialWatch,
        _ request: HttpRequest
    ) {
        // The account may have changed after the request was stamped.
        guard watch.allowsSharing(of: request) else { return disband(key, ticket) }
        let shared = outcome.map { Shared(outcome: $0, watch: watch) }
        Self.tell(core.withLock { $0.end(key, leader: ticket, sharing: shared) })
    }

    private func disband(_ key: CoalescingKey, _ ticket: Int) {
        Self.tell(core.withLock { $0.disband(key, leader: ticket) })
    }

    private func follow(_ key: CoalescingKey) async throws -> Verdict {
        let ticket = core.withLock { $0.takeTicket() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                // Looking for the cancellation and joining happen under one lock, and so does the cancellation's own
                // part.
                let role = core.withLock { Task.isCancelled ? nil : $0.join(key, waiter, ticket: ticket) }
                switch role {
                case .lead(let ticket): waiter.resume(returning: .lead(ticket))
                case .follow: break
                case nil: waiter.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            core.withLock { $0.cancel(key, ticket: ticket) }?.resume(throwing: CancellationError())
        }
    }

    private static func tell(_ verdicts: [(Waiter, Verdict)]) {
        for (waiter, verdict) in verdicts { waiter.resume(returning: verdict) }
    }
}

extension RequestCoalescing: CustomStringConvertible, CustomReflectable {
    /// How much is under way, and nothing of what.
    public var description: String { "RequestCoalescing with \(exchangeCount) exchanges, \(waitingCount) waiting" }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["coalescing": description]) }
}

extension HttpError {
    /// Whether it would have been any identical request's failure as well.
    fileprivate var isForAll: Bool {
        switch kind {
        case .transport, .timeout, .responseTooLarge: true
        // A circuit is open for all; another's deadline is nobody else's.
        case .refused(.waitPastDeadline): false
        case .refused: true
        default: false
        }
    }
}

extension RequestCoalescing {
    /// Behind what is stored, before whatever holds requests back.
    public var place: InterceptorPlace { .sharing }
    /// Itself.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }
}
