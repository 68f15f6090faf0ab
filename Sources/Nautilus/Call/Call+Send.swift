import Foundation

extension Call {
    /// Stages 4 and 5: one exchange that is not sent a second time, its redirects included, within the attempt's timeout.
    func send(_ request: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpResponse<Data> {
        let follower = follower
        let (outcome, limitPassed): (RedirectFollower.Outcome, Bool)
        if let timeout = context.timeout {
            let limit = TimeLimit(timeout, on: clock)
            let wait = ConnectionWait(on: clock)
            if follower.transport is any InterruptibleTransport, !request.body.isStream, !context.streamsResponse,
                let (interruption, timer) = limit.interruption(besides: wait)
            {
                outcome = await follower.send(request, context.timed(by: wait, interruption: interruption))
                limitPassed = timer.end()
            } else {
                (outcome, limitPassed) = await limit.cancelling(besides: wait) {
                    await follower.send(request, context.timed(by: wait))
                }
            }
        } else {
            (outcome, limitPassed) = (await follower.send(request, context), false)
        }
        let response = try settle(outcome, timedOut: limitPassed ? context.timeout : nil)
        guard let stream = response.stream else { return response }
        return await beginReading(stream, of: response)
    }

    /// What the attempt has sent, when the server has answered it well; nil when an interceptor has made a success of
    /// something else, which tells nothing of the server.
    var answeredRequest: RequestSummary? {
        guard let answer = recorder.answer, answer < 400 || request.acceptedStatusCodes.contains(answer) else {
            return nil
        }
        return recorder.request
    }

    var follower: RedirectFollower {
        RedirectFollower(transport: service.transport, accepted: request.acceptedStatusCodes)
    }

    /// Notes what the exchange may have done, and returns its response or throws its failure.
    func settle(
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
