extension Call {
    /// A call that goes on where a connection was lost: its retrier decides on the loss, as on a failed attempt.
    convenience init(reopening request: R, with service: S) {
        let clock = service.clock
        let factory = service.retrierFactory
        let scope = CallScope(
            requestType: R.self,
            deadline: nil,
            stopwatch: Stopwatch(clock),
            maxAttempts: { factory.policies.maxAttempts }
        )
        self.init(request, service, clock, scope, factory.create(for: request))
    }

    /// Waits as long as the retrier says, and goes the path again.
    ///
    /// - Throws: The loss when the retrier does not retry; the last failure when nothing could be opened.
    func reopen(after loss: HttpError) async throws(HttpError) -> HttpResponse<R.Result> {
        try await scope.enter {
            await Result { () async throws(HttpError) in
                let delay = try await self.delay(after: loss)
                try await self.sleep(for: delay, after: loss)
                return try await self.run()
            }
        }.get()
    }
}
