import Foundation
import Nautilus

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
/// ``HttpCache`` and every interceptor that stamps fields on requests, and before every one that holds requests back.
///
/// Identical are requests with the same method, GET or HEAD, the same URL, header and timeout, of the same account, and
/// that take the same redirects for answers. Unlike a cache, it needs no word of the server for it, since all of them
/// were asked for before the answer came. A request that is made after a POST, or another method that is not safe, has
/// come back from here gets no answer from before it, unless nothing has changed by it: it was never sent, or answered
/// by an error of the client's (RFC 9110 §15.5), or was part of a refresh. One of a higher `RequestPriority` does not
/// wait behind one of a lower: it is sent as well, and those that wait get whichever answer comes first.
///
/// Followers share every answer but 401 and 407, as it came from the server, and every failure of the network, of
/// timeouts and of limits, with its record (`HttpResponse/exchange`, `HttpResponse/sharedAnswer`). So one 503 to a
/// hundred calls is repeated after one delay, paid for once, as one exchange. Each reads the answer by its own type
/// (`AttemptContext/verdict(on:)`): a 200 that one of them rejects as a 503 is a 200 to another. An outcome that is
/// one call's own is not shared:
///
/// - The first is cancelled, or its deadline passes: the most urgent of the others takes its place, of these the one
///   that has waited for longest.
/// - Its credential is refused: the others wait until its call comes again, with a new one; where it is a type that
///   reads a refusal in the body, those that do so, too. When it ends instead, each goes on alone, and so does each
///   when the first fails in another way of its own.
/// - An interceptor further in has changed the request, by knowledge of that call alone, such as its user's language:
///   the URL, the method, the body, the fields of what the client accepts (RFC 9110 §12.5), or a field that the
///   answer's `Vary` names. Each goes on alone.
///
/// Each waits until its own deadline at most. Requests that a refresh makes, and those of calls within a call that is
/// waited for, go alone: the exchange they waited for might be waiting for them.
public final class RequestCoalescing: HttpInterceptor {
    typealias Outcome = Result<HttpResponse<Data>, HttpError>
    typealias Verdict = CoalescingVerdict<Outcome>
    typealias Core = CoalescingCore<CoalescingKey, Outcome, Waiter<Verdict>>

    private let accounts: CacheAccounts
    let ignoredNames: Set<HttpHeader.Name>
    private let core = Locked(Core())

    /// Creates one that knows of no request.
    ///
    /// - Parameters:
    ///   - accounts: How answers to different users are kept apart. Default: as soon as it turns out that a request
    ///     carries a credential, the others go on alone: nothing says that they are the same user's.
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
        if CacheStorage.isUnsafe(request.method) { return try await change(request, context, next) }
        // A body that is read while it comes has one reader.
        guard request.method == .get || request.method == .head, request.body.isEmpty, !context.streamsResponse,
            !context.isPartOfRefresh, let target = CacheTarget(request)
        else { return try await next(request) }
        // A call that began as another account's belongs to no exchange of this one.
        guard let account = accounts.account(of: context, notedBy: self), account.isCurrent else {
            return try await next(request)
        }
        let partition = account.partition
        if partition.account == nil, request.hasCredential { return try await next(request) }
        let key = CoalescingKey(request, target, partition, context, ignoring: ignoredNames)
        let visit = Core.Visit(key: key, urgency: request.priority.rawValue, call: context.call)
        // Asked here, without a suspension: mostly no other call asks for the same.
        switch core.withLock({ $0.begin(visit) }) {
        case .lead(let number): return try await lead(visit, number, account, request, context, next)
        case .goAlone: return try await next(request)
        case .follow: break
        }
        var (awaited, hasRefused) = (UInt64?.none, false)
        while true {
            switch try await follow(visit, awaited) {
            case .lead(let number): return try await lead(visit, number, account, request, context, next)
            case .goAlone: return try await next(request)
            case .share(let outcome):
                if let response = try context.read(outcome) { return response }
                // The next exchange may be that of a type which takes it, too.
                if hasRefused { return try await next(request) }
                (awaited, hasRefused) = (nil, true)
            case .shareWhileAway(let outcome, let call):
                if let response = try context.read(outcome) { return response }
                awaited = call
            }
        }
    }

    /// The object, which knows of the requests under way.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Notes the account of a call.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        accounts.note(request, in: &facts, by: self)
    }
}

extension RequestCoalescing {
    /// Sends a request that may change something. Which URLs show the change is unknown here; asking once more for
    /// another one costs little.
    private func change(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        // It changes the credential, and nothing that is asked for with it.
        guard !context.isPartOfRefresh else { return try await next(request) }
        do {
            let response = try await next(request)
            if response.asReceived.mayHaveChanged { core.withLock { $0.noteChange() } }
            return response
        } catch {
            // An answer that got lost may have been a good one.
            let delivery = (error as? HttpError)?.delivery ?? .maybeExecuted
            if delivery == .maybeExecuted { core.withLock { $0.noteChange() } }
            throw error
        }
    }

    /// - Parameter call: The call whose exchange it is to be; nil for any.
    private func follow(_ visit: Core.Visit, _ call: UInt64?) async throws -> Verdict {
        try await core.wait { core, waiter in
            core.join(visit, waiter, awaiting: call)
        } joined: { role, waiter in
            switch role {
            case .lead(let number): waiter.resume(returning: .lead(number))
            case .goAlone: waiter.resume(returning: .goAlone)
            case .follow: break
            }
        } leave: { core, id in
            core.leave(visit.key, id)
        }
    }

    private func lead(
        _ visit: Core.Visit,
        _ number: Int,
        _ account: CallAccount,
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let (key, call) = (visit.key, visit.call.id)
        let watch = ExchangeWatch(account, context)
        context.follow { [core, ignoredNames] event in
            switch event {
            case .sending(let sent, let role):
                let isOwn = watch.note(sent, role)
                let isSame = !isOwn || sent.asksTheSame(as: request, ignoring: ignoredNames)
                // Told now, not when an answer has come that is not theirs.
                if !isSame || !watch.isShareable { Self.tell(core.withLock { $0.disband(key, leader: number) }) }
            case .callEnded:
                Self.tell(core.withLock { $0.endCall(key, call) })
            case .succeeded, .failed:
                break
            }
        }
        do {
            var response = try await next(request)
            let fate = fate(of: response, to: request, context, watch)
            if fate.isShared, response.sharedAnswer == nil { response.sharedAnswer = SharedAnswer() }
            // The reading by this call's type is no other call's.
            end(key, number, fate, .success(response.asReceived))
            return response
        } catch var error as HttpError {
            let fate = fate(of: error, to: request, watch)
            if fate.isShared, error.sharedAnswer == nil { error.sharedAnswer = SharedAnswer() }
            end(key, number, fate, .failure(error))
            throw error
        } catch {
            Self.tell(
                core.withLock { core in
                    Task.isCancelled ? core.leave(key, leader: number) : core.disband(key, leader: number)
                }
            )
            throw error
        }
    }

    private func end(_ key: CoalescingKey, _ number: Int, _ fate: Fate, _ outcome: Outcome) {
        let verdicts = core.withLock { core in
            switch fate {
            case .shared: return core.end(key, leader: number, sharing: outcome)
            case .sharedWhileAway: return core.endForReturn(key, leader: number, sharing: outcome)
            case .anothersTurn: return core.leave(key, leader: number)
            case .awaitedAgain:
                core.leaveForReturn(key, leader: number)
                return []
            case .own: return core.disband(key, leader: number)
            }
        }
        Self.tell(verdicts)
    }

    private static func tell(_ verdicts: [(Waiter<Verdict>, Verdict)]) {
        for (waiter, verdict) in verdicts { waiter.resume(returning: verdict) }
    }
}

extension AttemptContext {
    /// The shared outcome, as the call's own request reads it; nil when it refuses the credential by that, and the call
    /// has to ask for itself.
    ///
    /// - Throws: The failure that has been shared.
    fileprivate func read(_ outcome: RequestCoalescing.Outcome) throws -> HttpResponse<Data>? {
        let response = try outcome.get()
        guard case .rejected(let rejected) = verdict(on: response) else { return response }
        return rejected.refusesCredential ? nil : rejected
    }
}

extension HttpResponse {
    /// Whether a request that is not safe may have changed something: an error of the client's says that it has not
    /// (but for 408, which may come too late), and so does a server that asks to come back.
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
    /// The consequence of an exchange's end for those that wait for it.
    enum Fate {
        /// It is theirs, too.
        case shared
        /// So it is, but for those that read it as this call does, which is going to ask again.
        case sharedWhileAway
        /// It does not concern them, and the next one asks.
        case anothersTurn
        /// The same call is going to ask again, with what it needs.
        case awaitedAgain
        /// It may be theirs or not: each asks for itself.
        case own

        var isShared: Bool { self == .shared || self == .sharedWhileAway }
    }

    func fate(
        of response: HttpResponse<Data>,
        to request: HttpRequest,
        _ context: AttemptContext,
        _ watch: ExchangeWatch
    ) -> Fate {
        // A side request does not come again, and neither does what belongs to no call.
        let mayReturn = !context.isSideRequest && context.call != .none
        let received = response.asReceived
        if received.refusesCredential { return mayReturn ? .awaitedAgain : .own }
        // The account may have changed after the request was stamped.
        guard watch.allowsSharing else { return .own }
        // Made further in without asking the server, for an unknown user. And it costs as little once more.
        guard response.exchange != nil || watch.sent != nil || context.call == .none else { return .own }
        let sent = watch.sent ?? response.request ?? request
        // An interceptor has passed on a request of another kind in its place, which `sending` reported as a side
        // request.
        guard sent.asksTheSame(as: request, ignoring: ignoredNames) else { return .own }
        // Credentials are the account's business.
        let names = received.header.varyingNames.filter { !$0.isSensitive && !ignoredNames.contains($0) }
        guard sent.isSelected(like: request, by: names) else { return .own }
        // Read in the body by this call's type: to another it may be an answer.
        return response.refusesCredential && mayReturn ? .sharedWhileAway : .shared
    }

    func fate(of error: HttpError, to request: HttpRequest, _ watch: ExchangeWatch) -> Fate {
        // It was cancelled, or its deadline has passed.
        if Task.isCancelled { return .anothersTurn }
        switch error.kind {
        case .deadline, .refused(.waitPastDeadline): return .anothersTurn
        // It would have been any identical request's failure as well: a circuit is open for all.
        case .transport, .timeout, .responseTooLarge, .refused: return watch.allowsSharing ? .shared : .own
        default: return .own
        }
    }
}

extension HttpRequest {
    /// The fields by which a client says what it accepts (RFC 9110 §12.5).
    private static let negotiationNames: [HttpHeader.Name] = [
        .accept, "Accept-Charset", "Accept-Encoding", .acceptLanguage,
    ]

    /// Whether it still asks for what `seen` asked for before it passed the interceptors further in.
    func asksTheSame(as seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        method == seen.method && body.isEmpty && CacheTarget(self) == CacheTarget(seen)
            && isSelected(like: seen, by: Self.negotiationNames.filter { !ignoredNames.contains($0) })
    }

    /// Whether a server that chooses an answer by these fields chooses the same for both.
    fileprivate func isSelected(like other: HttpRequest, by names: [HttpHeader.Name]) -> Bool {
        names.allSatisfy { header.selector($0) == other.header.selector($0) }
    }
}

extension HttpResponse {
    var refusesCredential: Bool { status == 401 || status == 407 }
}
