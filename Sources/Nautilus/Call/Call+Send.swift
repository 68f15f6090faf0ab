import Foundation

extension Call {
    /// Stages 4 and 5 without hedging: one exchange, including its redirects, within the attempt's timeout.
    func send(
        _ request: HttpRequest,
        _ context: AttemptContext,
        as role: CallTrace.Exchange.Role
    ) async throws(HttpError) -> HttpResponse<Data> {
        let opening = ExchangeBook.Opening(role: role, number: context.exchange, attempt: context.number)
        let (outcome, timeout) = await follow(request, context, opening, over: transport)
        let response = try settle(outcome, timedOut: timeout)
        guard let stream = response.stream else { return response }
        return await beginReading(stream, of: response)
    }

    /// The exchange of a side request, which does not change the attempt.
    ///
    /// Called from any task, so it touches only what never changes in the call.
    ///
    /// - Parameter transport: The attempt's transport.
    func sendAside(
        _ request: HttpRequest,
        _ context: AttemptContext,
        over transport: any HttpTransport
    ) async throws(HttpError) -> HttpResponse<Data> {
        let opening = ExchangeBook.Opening(
            role: .side,
            number: context.exchange,
            attempt: context.number,
            countsForAttempt: false,
            mayOutliveAttempt: true
        )
        let (outcome, timeout) = await follow(request, context, opening, over: transport)
        var error: HttpError
        switch outcome.ending {
        case .response(let response):
            return response
        case .refused(let refusal, let response):
            error = HttpError(.redirect(refusal), stage: .redirect, response: response)
        case .failed(let thrown):
            error = failureAside(thrown, in: .send, delivery: .maybeExecuted, of: request, context)
            if let timeout, error.kind == .cancelled, !Task.isCancelled { error.kind = .timeout(timeout) }
        }
        (error.exchange, error.redirects) = (outcome.exchange, outcome.redirects)
        throw error
    }

    /// Sends one exchange and follows its redirects.
    ///
    /// - Returns: The exchange's outcome, and the timeout if it has ended the exchange; nil otherwise.
    private func follow(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ opening: ExchangeBook.Opening,
        over transport: any HttpTransport
    ) async -> (RedirectFollower.Outcome, timeout: Duration?) {
        let (follower, progress) = (follower(for: opening.role, over: transport), ExchangeProgress(book.stopwatch))
        guard let timeout = context.timeout else {
            return (await follower.send(request, context.following(progress), progress, opening), nil)
        }
        var request = request
        if request.body.isStream { request.body = request.body.reportingParts { progress.notePart() } }
        let limit = TimeLimit(timeout, on: clock)
        if follower.transport is any InterruptibleTransport, !request.body.isStream, !context.streamsResponse,
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

    /// Creates the follower that sends an exchange of this role and follows its redirects.
    func follower(for role: CallTrace.Exchange.Role, over transport: any HttpTransport) -> RedirectFollower {
        let accepted = request.acceptedStatusCodes
        var follower = RedirectFollower(transport: transport, accepted: accepted, book: book)
        (follower.sessions, follower.retryAfterField) = (sessions, constants.retryAfterField)
        if role == .main { follower.classifier = constants }
        return follower
    }

    /// The response of an exchange; throws its failure.
    func settle(
        _ outcome: RedirectFollower.Outcome,
        timedOut timeout: Duration?
    ) throws(HttpError) -> HttpResponse<Data> {
        switch outcome.ending {
        case .response(let response):
            return response
        case .refused(let refusal, let response):
            var error = failure(.redirect(refusal), in: .redirect, response: response)
            error.redirects = outcome.redirects
            throw error
        case .failed(let thrown):
            var error = failure(thrown, in: .send, exchange: outcome.exchange)
            error.redirects = outcome.redirects
            // The exchange's own timeout has cancelled it, not the caller.
            if let timeout, error.kind == .cancelled, !Task.isCancelled { error.kind = .timeout(timeout) }
            throw error
        }
    }
}
