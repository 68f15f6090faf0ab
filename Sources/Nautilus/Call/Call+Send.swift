import Foundation

extension Call {
    /// Stages 4 and 5: one exchange, its redirects included, within the attempt's timeout.
    mutating func send(
        _ request: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> HttpResponse<Data> {
        guard let hedging, !context.streamsResponse else { return try await sendOnce(request, context) }
        return try await send(request, context, by: hedging)
    }

    /// One exchange that is not sent a second time.
    mutating func sendOnce(
        _ request: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> HttpResponse<Data> {
        guard let timeout = context.timeout else {
            return try await beginReading(settle(await follower(context).send(request), timedOut: nil))
        }
        let limit = TimeLimit(timeout, on: clock)
        let context = context.timed(on: clock)
        let (outcome, limitPassed) =
            if service.transport is any InterruptibleTransport, !request.body.isStream, !context.streamsResponse,
                limit.canInterrupt
            {
                // Captured alone, not with the whole call.
                await limit.interrupting(besides: context.connectionWait) { [follower = follower(context)] in
                    await follower.interrupted(by: $0).send(request)
                }
            } else {
                await limit.cancelling(besides: context.connectionWait) { [follower = follower(context)] in
                    await follower.send(request)
                }
            }
        return try await beginReading(settle(outcome, timedOut: limitPassed ? timeout : nil))
    }

    /// What the attempt has sent, when the server has answered it well; nil when an interceptor has made a success of
    /// something else, which tells nothing of the server.
    var answeredRequest: RequestSummary? {
        guard let answer = recorder.answer, answer < 400 || request.acceptedStatusCodes.contains(answer) else {
            return nil
        }
        return recorder.request
    }

    func follower(_ context: AttemptContext) -> RedirectFollower {
        RedirectFollower(transport: service.transport, context: context, accepted: request.acceptedStatusCodes)
    }

    /// Notes what the exchange may have done, and returns its response or throws its failure.
    mutating func settle(
        _ outcome: RedirectFollower.Outcome,
        timedOut timeout: Duration?
    ) throws(HttpError) -> HttpResponse<Data> {
        (recorder.redirects, recorder.answer) = (outcome.redirects, nil)
        // What the last hop says of itself says nothing of the first one, which had an answer.
        if outcome.redirects != nil { recorder.exchanged(.maybeExecuted) }
        switch outcome.ending {
        case .response(let response):
            recorder.exchanged(Delivery(response))
            recorder.answer = response.status
            return response
        case .refused(let refusal, let response):
            recorder.exchanged(.maybeExecuted)
            throw failure(.redirect(refusal), in: .redirect, response: response)
        case .failed(let thrown):
            var error = failure(thrown, in: .send)
            // The exchange was cancelled by its own timeout, not by the caller.
            if let timeout, error.kind == .cancelled, !Task.isCancelled { error.kind = .timeout(timeout) }
            recorder.exchanged(error.delivery)
            throw error
        }
    }
}
