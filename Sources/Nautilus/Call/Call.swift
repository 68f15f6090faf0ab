import Foundation

/// The path of a call after its hook, from a request to its decoded result or its last real failure.
///
/// This file holds the path, and below it the stages 1, 7 and 8. `Call+Start` has stage 0, `Call+Intercept` 2,
/// `NetworkPath` 3 to 5, `RedirectFollower` 6, `Call+Failure` and `Call+Retry` what follows a failure.
///
/// A call belongs to one task: neither it nor its retrier is ever shared. It is a class, since copying it from stage to
/// stage would cost more than the stages do.
final class Call<R: Request> {
    let clock: any Clock<Duration>
    /// How long the call may take: the request's own limit, or what the enclosing call has left; nil for no limit.
    let deadline: Duration?
    /// The coders for what outlives the call, its error or a stream; nil for the standard ones.
    let carriedCoders: JsonCoders.Carried?
    /// The scope that marks everything done for the call.
    let scope: CallScope
    /// The book that holds a record of each exchange.
    let book: ExchangeBook
    var retrier: any Retrier
    var builder = RequestBuilder()
    var recorder: TraceRecorder
    /// The last cost paid from each budget.
    var paid: [RetryCost] = []
    /// Whether the call opens the next connection of a stream, which decides itself on another attempt.
    let isReconnect: Bool
    /// The request of the last attempt; nil before there is one.
    var lastBuilt: HttpRequest?
    /// The terms that the call tier has set for the attempts within.
    var terms = AttemptTerms()
    /// The attempt that has been begun for the call tier, and whose request has not been sent yet; nil for none.
    var begun: AttemptContext?
    /// The request that the call tier has seen; nil without one.
    var firstBuilt: HttpRequest?
    /// The last answer that was decoded, and its result; nil for none.
    var decoded: (exchange: Int, result: any Sendable)?
    /// The server's last answer, kept for the call tier; nil for none.
    var lastAnswer: HttpResponse<Data>?
    /// How many subrequests its interceptors have made.
    var subrequests = 0
    /// Whether the call may be answered from a cache, or by the answer to another call; see ``CallContext/mayShare``.
    var mayShare = true
    /// Whether the call tier has sent a request that may change something.
    var hasSentChange = false
    /// The body that the call tier has put in the place of the request's own; nil for none.
    var passedBody: HttpBody.Payload?
    /// The binding that the call goes by until its end.
    let bound: CallBinding<R>

    init(_ bound: CallBinding<R>, _ scope: CallScope, isReconnect: Bool) {
        let observer = bound.configuration.observer
        let enabledObserver = observer.isEnabled ? observer : nil
        self.clock = bound.configuration.clock
        self.deadline = scope.deadline
        self.scope = scope
        self.book = ExchangeBook(scope.identity, stopwatch: scope.stopwatch, observer: enabledObserver)
        self.carriedCoders = bound.configuration.coders.carried
        self.isReconnect = isReconnect
        self.retrier = bound.retrier
        self.recorder = TraceRecorder(book, observer: enabledObserver)
        self.bound = bound
    }

    var request: R { bound.request }
    var interceptors: [any CallInterceptor] { bound.tiers.call }
    var transport: any HttpTransport { bound.configuration.transport }
    /// The sessions that the call belongs to.
    var sessions: [CallSession] { bound.sessions.list }
    var coders: JsonCoders { bound.configuration.coders }
    /// The time until the deadline; nil when there is none.
    var remaining: Duration? { deadline.map { $0 - recorder.elapsed } }

    /// Runs the call.
    func run() async throws(HttpError) -> CallOutcome {
        do throws(HttpError) {
            var (response, result) = interceptors.isEmpty ? try await attempts() : try await throughCallTier()
            succeeded(by: &response)
            return CallOutcome(response: response, result: result)
        } catch {
            throw recorder.failed(error)
        }
    }

    /// Makes attempts, one after the other, until one succeeds or a failure surfaces.
    private func attempts() async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        try await repeating { () async throws(HttpError) in
            let (built, context) = try await self.build()  // 1
            return try await self.attempt(built, context)
        }
    }

    /// Does something again and again until it succeeds or its failure surfaces.
    ///
    /// - Throws: The failure, which is in the trace.
    func repeating<Value>(_ attempt: () async throws(HttpError) -> Value) async throws(HttpError) -> Value {
        while true {
            do throws(HttpError) {
                return try await attempt()
            } catch {
                if terms.surfaces?(error) == true { throw recorder.surfacing(error) }
                let retry = try await decideOnRetry(after: error)
                try pay(for: retry, after: error)
                recorder.willRetry(after: error, retry.decision)
                try await sleep(for: retry.delay, after: error)
                try await passGate(after: error)
            }
        }
    }

    /// Makes one attempt: one pass along the path.
    func attempt(
        _ built: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        var response = try await exchange(built, context)  // 3 to 6
        response.hideSecrets(of: built)
        if !interceptors.isEmpty { lastAnswer = response }
        // The call tier reads it itself.
        if terms.accepted.contains(response.status) { return (response, Unread()) }
        return (response, try await result(of: response))
    }

    /// Stages 7 and 8.
    func result(of response: HttpResponse<Data>) async throws(HttpError) -> any Sendable {
        try validate(response)
        return request.streamsResponse ? try await decodeStream(of: response) : try decode(response)
    }
}

/// The result of an answer that the call's request has not read.
struct Unread: Sendable {}

// MARK: - 1: build

extension Call {
    /// Stage 1: builds a request from the present state of request and service, and the context of the attempt that it
    /// begins.
    func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        do {
            let header = try await bound.configuration.headers()
            let target = try targetNow()
            let built = try coders.asCurrent { try builder.build(request, to: target, with: header) }
            let context = AttemptContext.Fixed(
                number: recorder.number,
                serviceOrigin: target.service.origin,
                timeout: try timeout(),
                remaining: remaining,
                streamsResponse: request.streamsResponse,
                acceptedStatusCodes: request.acceptedStatusCodes,
                call: book.identity,
                sessions: bound.sessions.list,
                isAuthorized: !bound.credentials.isEmpty,
                coders: carriedCoders,
                hedgeable: bound.configuration.hedging == nil
                    ? nil
                    : HedgeableCall(book: book, clock: clock, deadline: deadline, allowsHedging: request.allowsHedging)
            )
            return (built, AttemptContext(context))
        } catch {
            throw failure(error, in: .build, delivery: .notSent)
        }
    }

    /// Where the attempt goes: where the call does, unless the request's own URL is another one by now, such as one
    /// with a new signature.
    ///
    /// - Throws: ``HttpRequest/Invalid``; ``FailureKind/FailureKind.EnvironmentChange`` when the request's own URL has
    ///   another origin by now.
    private func targetNow() throws -> CallTarget {
        let target = try bound.target.get()
        return request.url == nil ? target : try target.following(CallTarget(of: request, for: bound.configuration))
    }

    /// The timeout of the attempt's exchanges; nil for none.
    ///
    /// - Throws: ``HttpRequest/Invalid/notPositive(parameter:)``.
    private func timeout() throws(HttpRequest.Invalid) -> Duration? {
        let timeout = bound.configuration.timeout(of: request)
        if let timeout, timeout <= .zero { throw .notPositive(parameter: "timeout") }
        return timeout
    }
}

// MARK: - 3 to 6: the exchange

extension Call {
    /// Stages 3 to 6: the attempt's request, through the network tier.
    func exchange(_ request: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpResponse<Data> {
        // Where the attempt goes, by which a gate holds back the next one.
        lastBuilt = request
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        let response: HttpResponse<Data>
        do {
            response = try await path(as: .main).send(request, context)
        } catch {
            // An interceptor that fails by itself has sent nothing; the book knows what was sent.
            throw failure(error, in: .intercept, delivery: .notSent)
        }
        guard let stream = response.stream else { return response }
        return await beginReading(stream, of: response)
    }

    /// The way of a request of this role through the network tier.
    func path(as role: CallTrace.Exchange.Role) -> NetworkPath {
        let tier = bound.tiers.network
        let inner = tier.firstIndex { [.signing, .network].contains($0.networkStage) } ?? tier.endIndex
        var follower = RedirectFollower(transport: transport, accepted: request.acceptedStatusCodes, book: book)
        (follower.sessions, follower.retryAfterField) = (sessions, bound.configuration.retryAfterField)
        follower.interceptors = tier[inner...]
        if role == .main { follower.classifier = bound }
        return NetworkPath(
            credentials: bound.credentials,
            sessions: sessions,
            interceptors: tier[..<inner],
            follower: follower,
            check: builder.check,
            clock: clock,
            deadline: deadline,
            role: role
        )
    }
}

// MARK: - 7 and 8: validate and decode

extension Call {
    /// Stage 7: refuses a status that the request does not accept.
    func validate(_ response: HttpResponse<Data>) throws(HttpError) {
        guard !request.acceptedStatusCodes.contains(response.status) else { return }
        throw failure(.status(response.status), in: .validate, response: response)
    }

    /// Stage 8: makes the result.
    func decode(_ response: HttpResponse<Data>) throws(HttpError) -> any Sendable {
        do {
            return try coders.asCurrent { try request.decode(response) }
        } catch {
            throw undecodable(response, error)
        }
    }

    /// Stage 8 of a request whose response is read while it arrives.
    func decodeStream(of response: HttpResponse<Data>) async throws(HttpError) -> any Sendable {
        do {
            // An interceptor that has answered by itself supplies the whole body.
            let body = response.stream ?? HttpBodyStream(response.body, origin: origin(of: response))
            let streamed = response.replacingBody(body)
            return try await coders.asCurrent { try await request.decode(streamed) }
        } catch {
            throw undecodable(response, error)
        }
    }

    private func undecodable(_ response: HttpResponse<Data>, _ thrown: any Error) -> HttpError {
        switch thrown {
        case let error as HttpError where !error.isFinal:
            // If an interceptor has made a new value of the answer, only the book knows its exchange.
            failure(error, in: .decode, exchange: error.exchange ?? response.exchange ?? book.lastEnded)
        case is CancellationError where Task.isCancelled: failure(CancellationError(), in: .decode)
        default: failure(.decoding, in: .decode, response: response, underlying: thrown)
        }
    }
}

// MARK: - Success

extension Call {
    /// Ends a call that has succeeded: deposits in each budget of its retriers and of hedging, and adds its latency to each of
    /// their records, once.
    ///
    /// - Parameter response: The answer that the call's result was made of; the trace of the call is added to it.
    func succeeded(by response: inout HttpResponse<Data>) {
        if let answered = answered(response) { deposit(for: answered) }
        response.trace = recorder.succeeded(response.status, by: response.exchange)
    }

    private func deposit(for answered: CallTrace.Exchange) {
        // Redirects and hedges continue the request that was sent first; that request's origin counts.
        let root =
            answered.root == answered.number
            ? answered : book.exchanges().first { $0.number == answered.root } ?? answered
        let origin = root.request.origin
        let hedging = bound.configuration.hedging
        if book.hedge.isPaid, let budget = hedging?.budget.budget(of: lastBuilt?.origin) {
            note(RetryCost(from: budget, for: .hedge))
        }
        var budgets = retrier.budgets(for: origin)
        if let budget = hedging?.budget.budget(of: origin) { budgets.append(budget) }
        // The beginning of a stream does not yet prove that the server can bear it.
        let refundable = request.streamsResponse ? [] : paid
        for (index, budget) in budgets.enumerated() where !budgets[..<index].contains(where: { $0 === budget }) {
            budget.deposit(refunding: refundable.first { $0.budget === budget }?.reason)
        }
        guard let latency = latency(of: answered, since: root) else { return }
        var records = retrier.latencies
        if book.hedge.isPossible, let latencies = hedging?.latencies { records.append(latencies) }
        for (index, record) in records.enumerated() where !records[..<index].contains(where: { $0 === record }) {
            record.record(latency, of: origin)
        }
    }

    /// How long the server took, from the sending of the first request to the header of the answer; nil if that is not known.
    /// For a hedged attempt, the least that a caller without a hedge would have waited.
    private func latency(of answered: CallTrace.Exchange, since root: CallTrace.Exchange) -> Duration? {
        guard let own = answered.latency, root.number != answered.number else { return answered.latency }
        return max(.zero, answered.start - root.start - root.connectionWait + own)
    }

    /// The exchange of this call that the server has answered well; nil when an interceptor has made a success of
    /// something else, which tells nothing about the server.
    private func answered(_ response: HttpResponse<Data>) -> CallTrace.Exchange? {
        let own = response.exchange.flatMap { $0.call == scope.id && !book.isSubrequest($0) ? $0 : nil }
        guard let exchange = own ?? book.lastEnded, let status = exchange.status,
            status < 400 || request.acceptedStatusCodes.contains(status)
        else { return nil }
        return exchange
    }
}
