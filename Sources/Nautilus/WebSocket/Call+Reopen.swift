extension Call {
    /// A call that goes on where a connection was lost: its retrier decides on the loss, as on a failed attempt.
    convenience init(reopening request: R, with service: S) {
        let clock = service.clock
        self.init(request, service, clock, nil, Stopwatch(clock))
    }

    /// Waits as long as the retrier says, and goes the path again.
    ///
    /// - Throws: The loss when the retrier does not retry; the last failure when nothing could be opened.
    func reopen(after loss: HttpError) async throws(HttpError) -> HttpResponse<R.Result> {
        let delay = try await delay(after: loss)
        try await sleep(for: delay, after: loss)
        return try await run()
    }
}
