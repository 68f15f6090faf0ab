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
        try await response(with: service, in: CallSequence())
    }

    /// Calls the service as one of several calls that continue one another: the call belongs to the environment and to
    /// the session in which the first of them began.
    ///
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure; of kind
    ///   ``FailureKind/environmentChanged(_:)`` when the service has moved, and with the ``RefreshError`` underneath
    ///   that says how the session has ended.
    public func response<S: HttpService>(
        with service: S,
        in sequence: CallSequence
    ) async throws(S.RequestError) -> HttpResponse<Result> {
        do throws(HttpError) {
            let response = try await response(with: service.configuration, in: sequence)
            service.noteSuccess()
            return response
        } catch {
            throw service.mapped(error)
        }
    }

    /// Makes a call by a configuration that was read earlier, as one of several that continue one another.
    package func response(
        with configuration: ServiceConfiguration,
        in sequence: CallSequence
    ) async throws(HttpError) -> HttpResponse<Result> {
        try await Call.response(to: self, with: configuration, in: sequence)
    }

    /// Makes the call now, and returns a closure that runs it, even if somebody else is signed in by then, or another
    /// environment is selected.
    func made<S: HttpService>(
        with service: S
    ) -> @Sendable () async -> Swift.Result<HttpResponse<Result>, S.RequestError> {
        let configuration = service.configuration
        let made = Call.make(self, with: configuration)
        return {
            do throws(HttpError) {
                let response = try await Call.response(to: self, with: configuration, made: made)
                service.noteSuccess()
                return .success(response)
            } catch {
                return .failure(service.mapped(error))
            }
        }
    }
}
