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
/// ``HttpCache`` and whatever stamps fields on requests, and before whatever holds requests back.
///
/// Identical are requests with the same method, GET or HEAD, the same URL, header and timeout, and of the same account.
/// Unlike a cache, it needs no word of the server for it, since all of them were asked for before the answer came. A
/// request that is made after a POST, or another method that is not safe, has come back from here gets no answer from
/// before it. One of a higher `RequestPriority` does not wait behind one of a lower: it is sent as well, and those that
/// wait get whichever answer comes first.
///
/// What followers share: every answer but 401, 407 and a redirect, and every failure of the network, of timeouts and of
/// limits, with its record (``HttpResponse/exchange``, ``HttpResponse/sharedAnswer``). So one 503 to a hundred calls is
/// repeated after one delay, paid for once, as one exchange. What is one call's own is not shared:
///
/// - The first is cancelled, or its deadline passes: the most urgent of the others takes its place, of these the one that
///   has waited for longest.
/// - Its credential is refused: the others wait until its call comes again, with a new one. When it ends instead, each goes
///   on alone, and so does each when the first fails in another way of its own.
/// - Its type accepts a redirect, which another's may follow: each goes on alone.
/// - An interceptor further in has changed what is asked for, by what is known to that call alone, such as its user's
///   language: the URL, the method, the body, what the client accepts (RFC 9110 §12.5), or a field that the answer's `Vary`
///   names. Each goes on alone.
///
/// Each waits until its own deadline at most. Requests that a refresh makes, and those of calls within a call that is
/// waited for, go alone: what they waited for might be waiting for them.
public final class RequestCoalescing: HttpInterceptor {
    typealias Outcome = Result<HttpResponse<Data>, HttpError>
    typealias Verdict = CoalescingVerdict<Outcome>
    typealias Core = CoalescingCore<CoalescingKey, Outcome, Waiter<Verdict>>

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
            !context.isPartOfRefresh, let target = CacheTarget(request)
        else { return try await next(request) }
        // A call that began as another account's belongs to no exchange of this one.
        guard let account = accounts.account(of: context, notedBy: self), account.isCurrent else {
            return try await next(request)
        }
        let partition = account.partition
        if partition.account == nil, request.hasCredential { return try await next(request) }
        let changes = core.withLock { $0.changes }
        let key = CoalescingKey(request, target, partition, context.timeout, after: changes, ignoring: ignoredNames)
        let visit = Core.Visit(key: key, urgency: request.priority.rawValue, call: context.call)
        // Asked here, without a suspension: mostly nobody else asks for the same.
        switch core.withLock({ $0.begin(visit) }) {
        case .lead(let number): return try await lead(visit, number, account, request, context, next)
        case .goAlone: return try await next(request)
        case .follow: break
        }
        switch try await follow(visit) {
        case .lead(let number): return try await lead(visit, number, account, request, context, next)
        case .goAlone: return try await next(request)
        case .share(let outcome): return try outcome.get()
        }
    }

    /// The object, which knows of the requests under way.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Notes whose call it is.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        accounts.note(request, in: &facts, by: self)
    }
}

extension RequestCoalescing {
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

    private func follow(_ visit: Core.Visit) async throws -> Verdict {
        try await core.wait { core, waiter in
            core.join(visit, waiter)
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
            if fate == .shared, response.sharedAnswer == nil { response.sharedAnswer = SharedAnswer() }
            end(key, number, fate, .success(response))
            return response
        } catch var error as HttpError {
            let fate = fate(of: error, to: request, watch)
            if fate == .shared, error.sharedAnswer == nil { error.sharedAnswer = SharedAnswer() }
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

// MARK: - What is everybody's

extension RequestCoalescing {
    /// What the end of an exchange is to those that wait for it.
    private enum Fate {
        /// It is theirs, too.
        case shared
        /// It says nothing of theirs, and the next one asks.
        case anothersTurn
        /// The same call is going to ask again, with what it needs.
        case awaitedAgain
        /// It may be theirs or not: each asks for itself.
        case own
    }

    private func fate(
        of response: HttpResponse<Data>,
        to request: HttpRequest,
        _ context: AttemptContext,
        _ watch: ExchangeWatch
    ) -> Fate {
        switch response.status {
        // A side request does not come again, and neither does what belongs to no call.
        case 401, 407: return context.isSideRequest || context.call == .none ? .own : .awaitedAgain
        // Whether it is followed is the type's own word, which is not seen here.
        case 301, 302, 303, 307, 308: return .own
        default: break
        }
        // The account may have changed after the request was stamped.
        guard watch.allowsSharing else { return .own }
        // Made further in without asking the server, for whom nobody knows. And it costs as little once more.
        guard response.exchange != nil || watch.sent != nil || context.call == .none else { return .own }
        let sent = watch.sent ?? response.request ?? request
        // In place of it an interceptor has passed on a request of another kind, of which `sending` told as of one besides.
        guard sent.asksTheSame(as: request, ignoring: ignoredNames) else { return .own }
        // Credentials are the account's business.
        let names = response.header.varyingNames.filter { !$0.isSensitive && !ignoredNames.contains($0) }
        return sent.isSelected(like: request, by: names) ? .shared : .own
    }

    private func fate(of error: HttpError, to request: HttpRequest, _ watch: ExchangeWatch) -> Fate {
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
    /// What the client accepts (RFC 9110 §12.5).
    private static let negotiationNames: [HttpHeader.Name] = [
        .accept, "Accept-Charset", "Accept-Encoding", .acceptLanguage,
    ]

    /// Whether it still asks for what `seen` asked for before it passed the interceptors further in.
    fileprivate func asksTheSame(as seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        method == seen.method && body.isEmpty && CacheTarget(self) == CacheTarget(seen)
            && isSelected(like: seen, by: Self.negotiationNames.filter { !ignoredNames.contains($0) })
    }

    /// Whether a server that chooses an answer by these fields chooses the same for both.
    fileprivate func isSelected(like other: HttpRequest, by names: [HttpHeader.Name]) -> Bool {
        names.allSatisfy { header.selector($0) == other.header.selector($0) }
    }
}

extension RequestCoalescing: CustomStringConvertible, CustomReflectable {
    /// How much is under way, and nothing of what.
    public var description: String { "RequestCoalescing with \(exchangeCount) exchanges, \(waitingCount) waiting" }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["coalescing": description]) }
}
