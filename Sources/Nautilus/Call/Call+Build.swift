extension Call {
    /// Stage 1: a request as of now, and the context of the attempt that it begins.
    func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        answers.removeAll()
        couldBeHedged = false
        do {
            _ = try targetNow()
            let header = service.header.merging(try await service.asyncHeader)
            (interceptors, transport) = (service.interceptors, service.transport)
            // Once more: the service may have moved since, and all of this has to be of one environment.
            let target = try targetNow()
            let built = try builder.build(request, to: target, with: header)
            let context = AttemptContext(
                number: recorder.number,
                serviceOrigin: target.service.origin,
                timeout: request.timeout,
                remaining: remaining,
                streamsResponse: request.streamsResponse,
                acceptedStatusCodes: request.acceptedStatusCodes,
                call: book.identity,
                facts: scope.facts
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
        let present = try CallTarget(of: request, for: service)
        if let target {
            try target.check(present)
        } else {
            // Nothing was known when the call began: its URL was invalid, and no longer is.
            try sequence.begin(at: present.service)
            target = present
        }
        return present
    }

    /// The time until the deadline; nil when there is none.
    var remaining: Duration? {
        deadline.map { $0 - recorder.elapsed }
    }
}
