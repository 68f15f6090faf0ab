extension Call {
    /// Stage 1: a request as of now, and the context of the attempt that it begins.
    func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        answers.removeAll()
        couldBeHedged = false
        do {
            let target = try builder.target(of: request, for: service)
            let header = service.header.merging(try await service.asyncHeader)
            let built = try builder.build(request, to: target, with: header)
            let context = AttemptContext(
                number: recorder.number,
                serviceOrigin: target.serviceOrigin,
                timeout: request.timeout,
                remaining: remaining,
                streamsResponse: request.streamsResponse,
                call: book.identity
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
