import Foundation
import Nautilus

/// An interceptor that makes one exchange of identical GETs and HEADs that are under way at the same time: the first is
/// sent, and the others get its answer.
///
/// ```swift
/// struct NotesService {
///     let coalescing = RequestCoalescing(accounts: .separate { _ in session.userId })
/// }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [coalescing] }
/// }
/// ```
/// Keep it in a stored property: an object that `interceptors` creates anew each time never sees two requests. It
/// stands behind every ``HttpCache``, and in front of all that holds requests back.
///
/// Requests are identical if they have the same method (GET or HEAD), URL, header, timeout and account, and accept the
/// same redirects as answers. Unlike a cache, coalescing needs no permission from the server, since all of them were
/// made before the answer came. A request that is made after a POST, or another unsafe method, has come back through
/// this interceptor gets no earlier answer, unless that method changed nothing: it was never sent, was answered with a
/// client error (RFC 9110 §15.5), or was part of a refresh. A request of a higher `RequestPriority` does not wait
/// behind one of a lower: it is sent as well, and those that wait get whichever answer comes first.
///
/// Followers share every answer except 401 and 407, as it came from the server, and every failure of the network, of
/// timeouts and of limits, with its record (`HttpResponse/exchange`, `HttpResponse/sharedAnswer`). So one 503 to a
/// hundred calls is repeated after one delay, paid for once, as one exchange. Each call reads the answer by its own
/// type (`AttemptContext/verdict(on:)`): a 200 that one type rejects as a 503 is a 200 to another. An outcome that
/// concerns one call only is not shared:
///
/// - The first is cancelled, or its deadline passes: the most urgent of the others takes its place, and among equals
///   the one that has waited longest.
/// - The first's credential is refused: the others wait until its call comes again with a new credential. Where the
///   refusal is in the body, only followers whose type finds it there wait as well. If the call ends instead, or the
///   first fails in another way of its own, each goes on alone.
/// - An interceptor further in has changed the request with knowledge about that call alone, such as its user's
///   language. Such a change concerns the URL, the method, the body, the fields that say what the client accepts (RFC
///   9110 §12.5), or a field that the answer's `Vary` names. Each goes on alone.
///
/// Each waits at most until its own deadline. Requests made by a refresh, and those of calls within a call that is
/// being waited for, go alone: the exchange that they would wait for might be waiting for them.
public final class RequestCoalescing: CallInterceptor {
    typealias Outcome = Result<HttpResponse<Data>, HttpError>
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
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        if !request.method.isSafe { return try await change(request, context, next) }
        // A streamed body has only one reader.
        guard request.method == .get || request.method == .head, request.body.isEmpty, !context.streamsResponse,
            !context.isForCredential, let target = CacheTarget(request)
        else { return try await next(request) }
        // A call that began for another account belongs to no exchange of this account.
        guard let account = accounts.account(of: request, context, notedBy: self), account.isCurrent else {
            return try await next(request)
        }
        let partition = account.partition
        if partition.account == nil, request.hasCredential(besides: appFields) { return try await next(request) }
        let key = CoalescingKey(request, target, partition, context, ignoring: ignoredNames)
        let visit = Table.Visit(key: key, urgency: request.priority.rawValue, call: context.call)
        // Decided here without suspending, since mostly no other call asks for the same.
        switch exchanges.withLock({ $0.begin(visit) }) {
        case .lead(let number): return try await lead(visit, number, account, request, context, next)
        case .goAlone: return try await next(request)
        case .follow: break
        }
        var (awaited, hasRefused) = (UInt64?.none, false)
        while true {
            let call = awaited
            let verdict = try await context.wait { try await self.follow(visit, call) }
            switch verdict {
            case .lead(let number): return try await lead(visit, number, account, request, context, next)
            case .goAlone: return try await next(request)
            case .share(let outcome):
                if let response = try context.read(outcome) { return response }
                // The next exchange may come from a call whose type accepts the answer, too.
                if hasRefused { return try await next(request) }
                (awaited, hasRefused) = (nil, true)
            case .shareWhileAway(let outcome, let call):
                if let response = try context.read(outcome) { return response }
                awaited = call
            }
        }
    }

    /// The object itself, since it knows the requests under way.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }
    /// Inside of what answers from a store.
    public var callTierStage: CallTierStage { .sharing }

    /// Notes the account of a call.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        accounts.note(request, in: &facts, by: self)
    }
}

extension RequestCoalescing {
    /// Sends a request that may change something. It is not known here which URLs show the change; asking once more for
    /// an unaffected one costs little.
    private func change(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        // A refresh changes the credential, and nothing that is requested with it.
        guard !context.isPartOfRefresh else { return try await next(request) }
        do {
            let response = try await next(request)
            if response.asReceived.mayHaveChanged { exchanges.withLock { $0.noteChange() } }
            return response
        } catch {
            // A lost answer may have been a success.
            let delivery = (error as? HttpError)?.delivery ?? .maybeExecuted
            if delivery == .maybeExecuted { exchanges.withLock { $0.noteChange() } }
            throw error
        }
    }

    /// - Parameter call: The call whose exchange is waited for; nil for any.
    private func follow(_ visit: Table.Visit, _ call: UInt64?) async throws -> Verdict {
        try await exchanges.wait { exchanges, waiter in
            exchanges.join(visit, waiter, awaiting: call)
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
        _ account: CallAccount,
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let (key, call) = (visit.key, visit.call.id)
        let watch = ExchangeWatch(account, context, appFields: appFields)
        context.follow { [exchanges, ignoredNames] event in
            switch event {
            case .sending(let sent, let role):
                let isOwn = watch.note(sent, role)
                let isSame = !isOwn || sent.asksTheSame(as: request, ignoring: ignoredNames)
                // Tell the others now, rather than when an answer comes that is not theirs.
                if !isSame || !watch.isShareable { Self.tell(exchanges.withLock { $0.disband(key, leader: number) }) }
            case .callEnded:
                Self.tell(exchanges.withLock { $0.endCall(key, call) })
            case .succeeded, .failed:
                break
            }
        }
        do {
            var response = try await next(request)
            let fate = fate(of: response, to: request, context, watch)
            if fate.isShared, response.sharedAnswer == nil { response.sharedAnswer = SharedAnswer() }
            // How this call's type reads the answer concerns no other call.
            end(key, number, fate, .success(response.asReceived))
            return response
        } catch var error as HttpError {
            let fate = fate(of: error, to: request, watch)
            if fate.isShared, error.sharedAnswer == nil { error.sharedAnswer = SharedAnswer() }
            end(key, number, fate, .failure(error))
            throw error
        } catch {
            Self.tell(
                exchanges.withLock { exchanges in
                    Task.isCancelled ? exchanges.leave(key, leader: number) : exchanges.disband(key, leader: number)
                }
            )
            throw error
        }
    }

    private func end(_ key: CoalescingKey, _ number: Int, _ fate: Fate, _ outcome: Outcome) {
        let verdicts = exchanges.withLock { exchanges in
            switch fate {
            case .shared: return exchanges.end(key, leader: number, sharing: outcome)
            case .sharedWhileAway: return exchanges.endForReturn(key, leader: number, sharing: outcome)
            case .anothersTurn: return exchanges.leave(key, leader: number)
            case .awaitedAgain:
                exchanges.leaveForReturn(key, leader: number)
                return []
            case .own: return exchanges.disband(key, leader: number)
            }
        }
        Self.tell(verdicts)
    }

    private static func tell(_ verdicts: [(Waiter<Verdict>, Verdict)]) {
        for (waiter, verdict) in verdicts { waiter.resume(returning: verdict) }
    }
}

extension AttemptContext {
    /// The shared outcome, as read by this call's request; nil when the request reads a refused credential in it, so
    /// that the call has to ask for itself.
    ///
    /// - Throws: The failure that was shared.
    fileprivate func read(_ outcome: RequestCoalescing.Outcome) throws -> HttpResponse<Data>? {
        let response = try outcome.get()
        guard case .rejected(let rejected) = verdict(on: response) else { return response }
        return rejected.refusesCredential ? nil : rejected
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
        /// The outcome is theirs, too.
        case shared
        /// The outcome is theirs, except for those that read it as this call does, which is going to ask again.
        case sharedWhileAway
        /// The outcome does not concern them, and the next one asks.
        case anothersTurn
        /// The same call is going to ask again, with what it needs.
        case awaitedAgain
        /// The outcome may or may not be theirs: each asks for itself.
        case own

        var isShared: Bool { self == .shared || self == .sharedWhileAway }
    }

    func fate(
        of response: HttpResponse<Data>,
        to request: HttpRequest,
        _ context: AttemptContext,
        _ watch: ExchangeWatch
    ) -> Fate {
        // A side request does not come again, nor does one that belongs to no call.
        let mayReturn = !context.isSideRequest && context.call != .none
        let received = response.asReceived
        if received.refusesCredential { return mayReturn ? .awaitedAgain : .own }
        // The account may have changed after the request was stamped.
        guard watch.allowsSharing else { return .own }
        // An interceptor further in made the answer without asking the server, for an unknown user. Repeating that
        // costs little.
        guard response.exchange != nil || watch.sent != nil || context.call == .none else { return .own }
        let sent = watch.sent ?? response.request ?? request
        // An interceptor has passed on a request of another kind in place of this one, which `sending` reported as a
        // side request.
        guard sent.asksTheSame(as: request, ignoring: ignoredNames) else { return .own }
        // Credentials are covered by the account.
        let names = received.header.varyingNames.filter { !$0.isSensitive && !ignoredNames.contains($0) }
        guard sent.isSelected(like: request, by: names) else { return .own }
        // This call's type reads the refusal in the body; to another type, the response may be an answer.
        return response.refusesCredential && mayReturn ? .sharedWhileAway : .shared
    }

    func fate(of error: HttpError, to request: HttpRequest, _ watch: ExchangeWatch) -> Fate {
        // This call was cancelled, or its deadline has passed.
        if Task.isCancelled { return .anothersTurn }
        switch error.kind {
        case .deadline, .refused(.waitPastDeadline): return .anothersTurn
        // Any identical request would have failed as well: an open circuit is open for all.
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

    /// Whether the request still asks for what `seen` asked for before it passed the interceptors further in.
    func asksTheSame(as seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        method == seen.method && body.isEmpty && CacheTarget(self) == CacheTarget(seen)
            && isSelected(like: seen, by: Self.negotiationNames.filter { !ignoredNames.contains($0) })
    }

    /// Whether a server that chooses an answer by these fields chooses the same answer for both requests.
    fileprivate func isSelected(like other: HttpRequest, by names: [HttpHeader.Name]) -> Bool {
        names.allSatisfy { header.selector($0) == other.header.selector($0) }
    }
}

extension HttpResponse {
    var refusesCredential: Bool { status == 401 || status == 407 }
}
