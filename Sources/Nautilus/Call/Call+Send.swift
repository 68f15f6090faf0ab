import Foundation

extension Call {
    /// Stages 4 and 5: one exchange, its redirects included, within the attempt's timeout.
    func send(_ request: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpResponse<Data> {
        let context = context.timeout == nil ? context : context.timed(on: clock)
        let follower = RedirectFollower(
            transport: service.transport,
            context: context,
            accepted: self.request.acceptedStatusCodes
        )
        guard let timeout = context.timeout else {
            return try outcome(of: await follower.send(request), limitPassed: false, context)
        }
        let (outcome, limitPassed) = await withTimeLimit(timeout, on: clock, besides: context.connectionWait) {
            await follower.send(request)
        }
        return try self.outcome(of: outcome, limitPassed: limitPassed, context)
    }

    private func outcome(
        of outcome: RedirectFollower.Outcome,
        limitPassed: Bool,
        _ context: AttemptContext
    ) throws(HttpError) -> HttpResponse<Data> {
        switch outcome {
        case .response(let response):
            return response
        case .refused(let refusal, let response):
            throw failure(.redirect(refusal), in: .redirect, response: response)
        case .failed(let error):
            // The exchange was cancelled by its own timeout, not by the caller.
            if limitPassed, !Task.isCancelled, let timeout = context.timeout {
                throw failure(.timeout(timeout), in: .send)
            }
            throw failure(error, in: .send)
        }
    }
}
