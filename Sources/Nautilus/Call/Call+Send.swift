import Foundation

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
