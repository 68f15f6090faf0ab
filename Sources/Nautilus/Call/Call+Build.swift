import Foundation

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

    /// The time until the deadline; nil when there is none.
    var remaining: Duration? {
        deadline.map { $0 - recorder.elapsed }
    }
}
