import Foundation

extension Call {
    /// Stage 1: builds a request from the present state of request and service, and the context of the attempt that it
    /// begins.
    func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        couldBeHedged = false
        do {
            let header = try await configuration.headers()
            let target = try targetNow()
            let built = try coders.asCurrent { try builder.build(request, to: target, with: header) }
            let context = AttemptContext(
                number: recorder.number,
                serviceOrigin: target.service.origin,
                timeout: try timeout(),
                remaining: remaining,
                streamsResponse: request.streamsResponse,
                acceptedStatusCodes: request.acceptedStatusCodes,
                call: book.identity,
                facts: scope.constants.facts,
                sequence: sequence,
                wasUnstamped: goesUnstamped,
                coders: carriedCoders
            )
            return (built, context)
        } catch {
            throw failure(error, in: .build, delivery: .notSent)
        }
    }

    /// The target of the call, the same as when it began.
    ///
    /// - Throws: ``InvalidRequest``; ``EnvironmentChange`` when the service has moved since.
    private func targetNow() throws -> CallTarget {
        let present = try CallTarget(of: request, for: configuration, before: target)
        // The retrier, and all else that has been asked for by now, may belong to another environment.
        guard let target else { throw InvalidRequest.baseUrl(reason: "it was invalid when the call began") }
        try target.check(present)
        return present
    }

    /// The timeout of the attempt's exchanges; nil for none.
    ///
    /// - Throws: ``InvalidRequest/notPositive(parameter:)``.
    private func timeout() throws(InvalidRequest) -> Duration? {
        let timeout = configuration.timeout(of: request)
        if let timeout, timeout <= .zero { throw .notPositive(parameter: "timeout") }
        return timeout
    }

    /// The time until the deadline; nil when there is none.
    var remaining: Duration? {
        deadline.map { $0 - recorder.elapsed }
    }
}
