extension Request {
    /// Calls the service and returns the decoded result; includes all attempts, refreshes, delays and redirects.
    ///
    /// Building and decoding run off the caller's actor. Cancelling the task ends the call at once.
    ///
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure.
    public func schedule<S: HttpService>(with service: S) async throws(S.RequestError) -> Result {
        try await response(with: service).body
    }

    /// Calls the service and returns the decoded result with its status, header and the trace of the call.
    ///
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure.
    public func response<S: HttpService>(with service: S) async throws(S.RequestError) -> HttpResponse<Result> {
        try await bound(to: service).run(for: service)
    }
}

extension CallBinding {
    /// Runs the call, and throws the service's own error.
    package func run<S: HttpService>(for service: S) async throws(S.RequestError) -> HttpResponse<R.Result> {
        do throws(HttpError) {
            return try await run()
        } catch {
            throw service.mapped(error, by: configuration)
        }
    }

    /// The outcome of the call, with the service's own error.
    func result<S: HttpService>(for service: S) async -> Result<HttpResponse<R.Result>, S.RequestError> {
        await Result { () async throws(S.RequestError) in try await run(for: service) }
    }
}
