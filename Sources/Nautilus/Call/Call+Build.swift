extension Call {
    /// Stage 1: a request as of now, and the context of the attempt that it begins.
    mutating func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        do {
            let (built, serviceOrigin) = try await builder.build(request, for: service)
            recorder.willSend(built, serviceOrigin: serviceOrigin)
            let context = AttemptContext(
                number: recorder.number,
                serviceOrigin: serviceOrigin,
                timeout: request.timeout,
                remaining: remaining,
                streamsResponse: request.streamsResponse
            )
            return (built, context)
        } catch {
            throw failure(error, in: .build, delivery: .notSent)
        }
    }

    /// What is left until the deadline; nil when there is none.
    var remaining: Duration? {
        deadline.map { $0 - recorder.elapsed }
    }
}
