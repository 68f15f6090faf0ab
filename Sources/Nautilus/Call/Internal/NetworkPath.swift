import Foundation

/// The way of one request through the network tier: it waits for its credentials, passes the network interceptors, is
/// authorized, and goes out.
///
/// A value that any task may use: a hedge sends twice at once, and a subrequest beside the call's own.
struct NetworkPath: Sendable {
    /// How often a request is passed to the tier at most: once, and twice more if its credential has gone meanwhile.
    private static var maxRounds: Int { 3 }

    let credentials: [any CallCredential]
    let sessions: [CallSession]
    /// The interceptors up to those that change requests; those behind them wrap each hop of ``follower``.
    let interceptors: ArraySlice<any NetworkInterceptor>
    let follower: RedirectFollower
    let check: RequestCheck
    let clock: any Clock<Duration>
    /// The call's deadline; nil for none.
    let deadline: Duration?
    var role = CallTrace.Exchange.Role.main

    /// Sends a request. If its credential has gone when it may be sent, waits for the next one and begins anew, as long
    /// as nothing has been sent.
    ///
    /// - Throws: Usually ``HttpError``, which does not know yet what else its attempt has sent.
    func send(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpResponse<Data> {
        var missing = isOwn(request, context) ? credentials.filter { !$0.isReady } : []
        let round = interceptors.isEmpty ? nil : NetworkRound()
        defer { round?.end() }
        for _ in 1..<Self.maxRounds {
            if context.mayWait { try await wait(for: missing) }
            let sent = follower.book.count
            let outcome = await Result {
                try await proceed(with: request, context, past: interceptors.startIndex, round)
            }
            // Whatever an interceptor has made of it; but what it has sent already must not be sent again.
            guard let later = round?.takeMissing() ?? outcome.missing, context.mayWait, follower.book.count == sent
            else { return try outcome.get() }
            missing = later
        }
        if context.mayWait { try await wait(for: missing) }
        return try await proceed(with: request, context, past: interceptors.startIndex, round)
    }

    /// Waits for credentials, no longer than their sessions last.
    private func wait(for missing: [any CallCredential]) async throws {
        do {
            for credential in missing { try await sessions.wait { try await credential.ready() } }
        } catch {
            throw HttpError(wrapping: error, stage: .prepare, delivery: .notSent)
        }
    }

    private func isOwn(_ request: HttpRequest, _ context: AttemptContext) -> Bool {
        !credentials.isEmpty && request.origin == context.serviceOrigin
    }

    private func proceed(
        with request: HttpRequest,
        _ context: AttemptContext,
        past depth: Int,
        _ round: NetworkRound?
    ) async throws -> HttpResponse<Data> {
        guard depth < interceptors.endIndex else { return try await write(request, context, round) }
        let isOuterChange =
            interceptors[depth].networkStage == .changing
            && (depth == interceptors.startIndex || interceptors[depth - 1].networkStage != .changing)
        var response: HttpResponse<Data>
        do {
            let next = AttemptContext.Next { passedOn, hedged in
                let context = hedged.map(context.sending) ?? context
                return try await proceed(with: passedOn.hidingSecrets(of: request), context, past: depth + 1, round)
            }
            response = try await interceptors[depth].intercept(request, context: context, next: next)
        } catch var refusal as AttemptContext.WouldWait where refusal.interceptor == nil {
            refusal.interceptor = "\(type(of: interceptors[depth]))"
            throw refusal
        }
        // A changed answer, such as a decrypted one, may say something else.
        if isOuterChange, !context.streamsResponse, !response.isReclassified, let classifier = follower.classifier,
            follower.mayClassify(response)
        {
            response.count(as: classifier.status(of: response))
        }
        return response
    }

    /// Authorizes a request, and makes its exchange, including its redirects, within the attempt's timeout.
    private func write(
        _ built: HttpRequest,
        _ context: AttemptContext,
        _ round: NetworkRound?
    ) async throws -> HttpResponse<Data> {
        // An interceptor has kept its `next`.
        if round?.isOver == true { throw AttemptIsOver() }
        var request = built
        let number: Int
        do {
            try authorize(&request, context, round)
            try check.finish(&request)
            // A subrequest's key is its own, and the call does not repeat it.
            if role == .subrequest { request.isKeyKept = true }
            number = follower.book.takeNumber()
            context.hedged?.progress.begin()
            try context.hedged?.willWrite(number)
        } catch {
            throw HttpError(wrapping: error, stage: .prepare, delivery: .notSent)
        }
        context.hedged?.progress.beginSending()
        let opening = ExchangeBook.Opening(
            role: context.hedged?.sending == .second ? .hedge : role,
            number: number,
            // A subrequest belongs to the attempt that is under way, or was the last.
            attempt: role == .subrequest ? follower.book.attempt : context.number,
            root: context.hedged?.root,
            countsForAttempt: role != .subrequest,
            mayOutliveAttempt: role == .subrequest || context.hedged != nil
        )
        let (outcome, timeout) = await follow(request, context, opening)
        return try settle(outcome, timedOut: timeout)
    }

    /// Puts the newest credential of each session on a request to the service's own origin.
    private func authorize(_ request: inout HttpRequest, _ context: AttemptContext, _ round: NetworkRound?) throws {
        guard isOwn(request, context) else { return }
        let missing = try credentials.filter { try !$0.authorize(&request) }
        if missing.isEmpty { return }
        round?.note(missing)
        throw CredentialNotReady(missing: missing)
    }

    /// Makes an exchange and follows its redirects.
    ///
    /// - Returns: The outcome, and the timeout if it has ended the exchange; nil otherwise.
    private func follow(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ opening: ExchangeBook.Opening
    ) async -> (RedirectFollower.Outcome, timeout: Duration?) {
        let progress = context.hedged?.progress ?? ExchangeProgress(follower.book.stopwatch)
        guard let timeout = context.timeout else {
            return (await follower.send(request, context.following(progress), progress, opening), nil)
        }
        var request = request
        if request.body.isStream { request.body = request.body.reportingParts { progress.notePart() } }
        let limit = TimeLimit(timeout, on: clock)
        // An interceptor that signs, or imitates the network, responds only to its task's cancellation.
        if follower.transport is any InterruptibleTransport, !request.body.isStream, !context.streamsResponse,
            follower.interceptors.isEmpty,
            let alarm = limit.alarm(besides: progress)
        {
            let context = context.following(progress, interruption: alarm.interruption)
            let outcome = await follower.send(request, context, progress, opening)
            return (outcome, alarm.end() ? timeout : nil)
        }
        let (outcome, limitPassed) = await limit.cancelling(besides: progress) { [request] in
            await follower.send(request, context.following(progress), progress, opening)
        }
        return (outcome, limitPassed ? timeout : nil)
    }

    /// The response of an exchange; throws its failure.
    private func settle(
        _ outcome: RedirectFollower.Outcome,
        timedOut timeout: Duration?
    ) throws(HttpError) -> HttpResponse<Data> {
        var error: HttpError
        switch outcome.ending {
        case .response(let response): return response
        case .refused(let refusal, let response):
            error = HttpError(
                .redirect(refusal),
                stage: .redirect,
                delivery: Delivery(response),
                response: response,
                retryAfter: response.header.retryAfter()
            )
        case .failed(let thrown):
            error = HttpError(wrapping: thrown, stage: .send, delivery: .maybeExecuted)
            // The exchange's own timeout has cancelled it, not the caller.
            if let timeout, error.kind == .cancelled, !Task.isCancelled { error.kind = .timeout(timeout) }
            // Nor has the caller cancelled it if the call's time is over.
            if error.kind == .cancelled, let deadline, follower.book.stopwatch.elapsed >= deadline {
                error.kind = .deadline(deadline)
            }
        }
        (error.exchange, error.redirects) = (outcome.exchange, outcome.redirects)
        throw error
    }
}

/// A send through the network tier, which ends when its outermost interceptor returns.
final class NetworkRound: Sendable {
    private let state = Locked((isOver: false, missing: [any CallCredential]?.none))

    var isOver: Bool { state.withLock { $0.isOver } }

    func end() { state.withLock { $0.isOver = true } }

    /// Notes that credentials were missing when the request could be sent.
    func note(_ missing: [any CallCredential]) { state.withLock { $0.missing = missing } }

    func takeMissing() -> [any CallCredential]? { state.withLock { $0.missing.take() } }
}

extension Result where Failure == any Error {
    /// The credentials that were not there; nil if that was not the reason of a failure.
    fileprivate var missing: [any CallCredential]? {
        guard case .failure(let error as HttpError) = self else { return nil }
        return (error.underlying as? CredentialNotReady)?.missing
    }
}

/// The check of an attempt's request right before it goes out, after all changes on its way.
struct RequestCheck: Sendable {
    /// The call's `Idempotency-Key`; nil for none.
    var key: String?
    /// The header that the attempt was built with.
    var header = HttpHeader()
    /// The origin to which that header may go unfiltered.
    var origin: HttpOrigin?

    /// Checks the request: interceptors and credentials may have added fields that no check has seen, such as a token
    /// with a line break.
    ///
    /// - Throws: ``HttpRequest/Invalid``.
    func finish(_ request: inout HttpRequest) throws(HttpRequest.Invalid) {
        if let key = request.header[.idempotencyKey] { request.isKeyKept = key == self.key }
        // An interceptor sends it to another origin: fields for the service's own servers are left out.
        if request.origin != origin { request.header = request.header.leavingBehind(header) }
        try request.validate(trusting: header)
    }
}
