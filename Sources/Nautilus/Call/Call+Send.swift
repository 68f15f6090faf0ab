import Foundation

extension Call {
    /// Stages 4 and 5: one exchange, its redirects included, within the attempt's timeout.
    mutating func send(
        _ request: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> HttpResponse<Data> {
        let context = context.timeout == nil ? context : context.timed(on: clock)
        let follower = RedirectFollower(
            transport: service.transport,
            context: context,
            accepted: self.request.acceptedStatusCodes
        )
        guard let timeout = context.timeout else {
            return try settle(await follower.send(request), timedOut: nil)
        }
        let (outcome, limitPassed) = await withTimeLimit(timeout, on: clock, besides: context.connectionWait) {
            await follower.send(request)
        }
        return try settle(outcome, timedOut: limitPassed ? timeout : nil)
    }

    /// Notes what the exchange may have done, and returns its response or throws its failure.
    private mutating func settle(
        _ outcome: RedirectFollower.Outcome,
        timedOut timeout: Duration?
    ) throws(HttpError) -> HttpResponse<Data> {
        recorder.redirects = outcome.redirects
        // What the last hop says of itself says nothing of the first one, which had an answer.
        if outcome.redirects != nil { recorder.exchanged(.maybeExecuted) }
        switch outcome.ending {
        case .response(let response):
            recorder.exchanged(Delivery(response))
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
