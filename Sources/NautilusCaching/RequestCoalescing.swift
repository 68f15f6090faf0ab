import Foundation
import Nautilus

/// An interceptor that makes one exchange of identical GETs and HEADs that are under way at the same time: the first is
/// sent, and the others get its answer or its failure.
/// ```swift
/// struct NotesService { let coalescing = RequestCoalescing(accounts: .separate { _ in session.userId }) }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [coalescing] }
/// }
/// ```
/// Keep it in a stored property, or it never sees two requests. Requests are identical if method, URL, header, timeout,
/// account and accepted redirects are the same, and their retriers are alike (`RetrierFactory/sharingKey`). Each call
/// waits until its own deadline at most. The guide `Caching` says which outcomes are not shared.
public final class RequestCoalescing: CallInterceptor {
    /// What the others get.
    struct Outcome: Sendable {
        let result: Result<HttpResponse<Data>, HttpError>
        /// The time that a leader had left which has given up for want of time; nil for any other.
        var timeLeft: Duration?
    }
    typealias Verdict = CoalescingVerdict<Outcome>
    typealias Table = CoalescingTable<CoalescingKey, Outcome, Waiter<Verdict>>

    private let accounts: CacheAccounts
    private let appFields: Set<HttpHeader.Name>
    let ignoredNames: Set<HttpHeader.Name>
    private let exchanges = Locked(Table())

    /// Creates an interceptor with no requests under way.
    ///
    /// - Parameters:
    ///   - accounts: How answers to different users are kept apart. Default: as soon as a request turns out to carry a
    ///     credential, the others go on alone, since nothing says that they belong to the same user.
    ///   - appFields: As for ``HttpCache``. Default: none.
    ///   - ignoredNames: Fields that may differ between identical requests, such as one that numbers the requests.
    ///     Default: none, since the answer may depend on any field.
    public init(
        accounts: CacheAccounts = .anonymousOnly,
        appFields: Set<HttpHeader.Name> = [],
        ignoring ignoredNames: Set<HttpHeader.Name> = []
    ) {
        (self.accounts, self.appFields, self.ignoredNames) = (accounts, appFields, ignoredNames)
    }

    /// How many exchanges are under way here now.
    public var exchangeCount: Int { exchanges.withLock { $0.counts.flights } }

    /// How many requests are now waiting for another's answer.
    public var waitingCount: Int { exchanges.withLock { $0.counts.followers } }

    /// Sends the request, or waits for the answer to an identical one that was made since the last change.
    ///
    /// - Throws: `CancellationError`, at once, when the call is cancelled while it waits. Otherwise what the exchange
    ///   throws.
    public func intercept(
        _ request: HttpRequest,
        context: CallContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        if !request.method.isSafe { return try await change(request, context, next) }
        // A streamed body has only one reader.
        guard request.method == .get || request.method == .head, request.body.isEmpty, !context.streamsResponse,
            !context.isForCredential, context.mayShare, let alike = context.sharingKey,
            let target = CacheTarget(request)
        else { return try await next(request) }
        // Whose exchange it would be is not known.
        guard let partition = accounts.partition(of: request, context),
            partition.account != nil || !request.hasCredential(besides: appFields)
        else { return try await next(request) }
        let key = CoalescingKey(request, target, partition, alike, context, ignoring: ignoredNames)
        let visit = Table.Visit(key: key, urgency: request.priority.rawValue, call: context.call)
        // Decided here without suspending, since mostly no other call asks for the same.
        switch exchanges.withLock({ $0.begin(visit) }) {
        case .lead(let number): return try await lead(visit, number, partition, request, context, next)
        case .goAlone: return try await next(request)
        case .follow: break
        }
        switch try await context.wait({ try await self.follow(visit) }) {
        case .lead(let number): return try await lead(visit, number, partition, request, context, next)
        case .goAlone: return try await next(request)
        case .share(let outcome):
            // Another call of those that waited makes the exchange, for all to whom this is no outcome.
            if outcome.isOther(for: context) { return try await intercept(request, context: context, next: next) }
            return try outcome.result.get()
        }
    }

    /// Inside of what answers from a store.
    public var callTierStage: InterceptorTier.CallStage { .sharing }

    /// The account by which answers are kept apart.
    public func account<R: Request>(of request: R) -> String? { accounts.account(of: request) }
}

extension RequestCoalescing {
    /// Sends a request that may change something. It is not known here which URLs show the change; asking once more for
    /// an unaffected one costs little.
    private func change(
        _ request: HttpRequest,
        _ context: CallContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        // A refresh changes the credential, and nothing that is requested with it.
        guard !context.isPartOfRefresh else { return try await next(request) }
        do {
            let response = try await next(request)
            let wasRedirected = response.exchange?.redirects?.becameGet == true
            if wasRedirected || response.asReceived.mayHaveChanged || context.hasLostAnswer {
                exchanges.withLock { $0.noteChange() }
            }
            return response
        } catch {
            // A lost answer may have been a success.
            let error = HttpError(wrapping: error, stage: .intercept, delivery: .maybeExecuted)
            let mayHaveChanged = error.response?.asReceived.mayHaveChanged ?? (error.delivery == .maybeExecuted)
            if mayHaveChanged || error.redirects?.becameGet == true || context.hasLostAnswer {
                exchanges.withLock { $0.noteChange() }
            }
            throw error
        }
    }

    private func follow(_ visit: Table.Visit) async throws -> Verdict {
        try await exchanges.wait { exchanges, waiter in
            exchanges.join(visit, waiter)
        } joined: { role, waiter in
            switch role {
            case .lead(let number): waiter.resume(returning: .lead(number))
            case .goAlone: waiter.resume(returning: .goAlone)
            case .follow: break
            }
        } leave: { exchanges, id in
            exchanges.leave(visit.key, id)
        }
    }

    private func lead(
        _ visit: Table.Visit,
        _ number: Int,
        _ partition: CachePartition,
        _ request: HttpRequest,
        _ context: CallContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        do {
            let response = try await next(request)
            // How this call's type reads the answer concerns no other call.
            let isTheirs = isTheirs(response, to: request, partition, context)
            end(visit.key, number, isTheirs ? .shared : .own, Outcome(result: .success(response.asReceived)))
            return response
        } catch {
            let failure = HttpError(wrapping: error, stage: .intercept, delivery: .notSent)
            let isTheirs = isStill(partition, request, context)
            // A later sign-in of the same user goes on.
            let fate: Fate = context.isSessionOver ? .anothersTurn : isTheirs ? fate(of: failure) : .own
            // It may not have had the time for the next refresh.
            let isShortOfTime = context.hasRunOutOfTime || failure.kind == .authorization
            let timeLeft = isShortOfTime ? CallDeadline.remaining : nil
            end(visit.key, number, fate, Outcome(result: .failure(failure), timeLeft: timeLeft))
            throw error
        }
    }

    private func end(_ key: CoalescingKey, _ number: Int, _ fate: Fate, _ outcome: Outcome) {
        Self.tell(
            exchanges.withLock { exchanges in
                switch fate {
                case .shared: exchanges.end(key, leader: number, sharing: outcome)
                case .failed(let isOfType): exchanges.end(key, leader: number, failing: outcome, isOfType: isOfType)
                case .anothersTurn: exchanges.leave(key, leader: number)
                case .own: exchanges.disband(key, leader: number)
                }
            }
        )
    }

    private static func tell(_ verdicts: [(Waiter<Verdict>, Verdict)]) {
        for (waiter, verdict) in verdicts { waiter.resume(returning: verdict) }
    }
}

extension RequestCoalescing.Outcome {
    /// Whether a failure says nothing to a call that waited, since it accepts the status, or has much more time: at least
    /// twice as much, so that few exchanges are made, however many calls wait.
    fileprivate func isOther(for context: CallContext) -> Bool {
        guard case .failure(let error) = result else { return false }
        if case .status(let status) = error.kind, context.acceptedStatusCodes.contains(status) { return true }
        guard let timeLeft else { return false }
        return CallDeadline.remaining.map { $0 > timeLeft * 2 } ?? true
    }
}

extension HttpResponse {
    /// Whether an unsafe request may have changed something. A client error says that it has not, except for 408, which
    /// may come too late; so does a server that asks to come back later.
    fileprivate var mayHaveChanged: Bool {
        switch status {
        case 400..<500 where status != 408: false
        default: Delivery(status: status, hasRetryAfter: header.retryAfter() != nil) == .maybeExecuted || status < 400
        }
    }
}

extension RequestCoalescing: Redacted {
    /// The number of exchanges under way, and nothing of their content.
    public var description: String { "RequestCoalescing with \(exchangeCount) exchanges, \(waitingCount) waiting" }
}

extension RequestCoalescing {
    /// The meaning of the end of an exchange for those that wait for it.
    enum Fate {
        /// The answer is theirs, too.
        case shared
        /// The failure is theirs, too, or only theirs who read the answer as this call does.
        case failed(isOfType: Bool)
        /// The outcome does not concern them, and the next one asks.
        case anothersTurn
        /// The outcome may or may not be theirs: each asks for itself.
        case own
    }

    /// Whether an answer is also one to those that wait for it.
    private func isTheirs(
        _ response: HttpResponse<Data>,
        to request: HttpRequest,
        _ partition: CachePartition,
        _ context: CallContext
    ) -> Bool {
        // The account may have changed meanwhile. An interceptor has made the answer without asking the server, for an
        // unknown user: repeating that costs little.
        guard isStill(partition, request, context), response.exchange != nil || context.call == .none else {
            return false
        }
        let sent = response.request ?? request
        // Where a redirect has led says nothing of what was asked for, but it keeps what the client accepts.
        let isRedirected = response.exchange?.redirects != nil
        guard
            isRedirected
                ? sent.accepts(theSameAs: request, ignoring: ignoredNames)
                : sent.asksTheSame(as: request, ignoring: ignoredNames)
        else { return false }
        if sent.hasCredential(besides: appFields), partition.account == nil { return false }
        // Credentials are covered by the account.
        let names = response.asReceived.header.varyingNames.filter { !$0.isSensitive && !ignoredNames.contains($0) }
        return sent.isSelected(like: request, by: names)
    }

    /// Whether a call still belongs to the account that it had before it was sent.
    private func isStill(_ partition: CachePartition, _ request: HttpRequest, _ context: CallContext) -> Bool {
        accounts.partition(of: request, context) == partition
    }

    func fate(of error: HttpError) -> Fate {
        // This call was cancelled, or its deadline has passed.
        if Task.isCancelled { return .anothersTurn }
        switch error.kind {
        case .deadline, .refused(.waitPastDeadline): return .anothersTurn
        // Any identical request would have failed as well: an open circuit is open for all.
        case .transport, .timeout, .responseTooLarge, .refused, .redirect, .authorization:
            return .failed(isOfType: false)
        // Another type may accept the answer.
        case .status, .decoding: return .failed(isOfType: true)
        default: return .own
        }
    }
}

extension HttpRequest {
    /// The fields by which a client says what it accepts (RFC 9110 §12.5).
    private static let negotiationNames: [HttpHeader.Name] = [
        .accept, "Accept-Charset", "Accept-Encoding", .acceptLanguage,
    ]

    /// Whether the request still asks for what `seen` asked for before it passed the later interceptors.
    func asksTheSame(as seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        method == seen.method && body.isEmpty && CacheTarget(self) == CacheTarget(seen)
            && accepts(theSameAs: seen, ignoring: ignoredNames)
    }

    fileprivate func accepts(theSameAs seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        isSelected(like: seen, by: Self.negotiationNames.filter { !ignoredNames.contains($0) })
    }

    /// Whether a server that chooses an answer by these fields chooses the same answer for both requests.
    fileprivate func isSelected(like other: HttpRequest, by names: [HttpHeader.Name]) -> Bool {
        names.allSatisfy { header.selector($0) == other.header.selector($0) }
    }
}
