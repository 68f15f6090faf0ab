extension Request {
    /// Calls the service and returns the decoded result: attempts, refreshes, delays and redirects included.
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

    /// The same, as one of several calls that continue one another.
    func response<S: HttpService>(
        with service: S,
        in sequence: CallSequence
    ) async throws(S.RequestError) -> HttpResponse<Result> {
        if let selected = service.selectedService { return try await response(with: selected, in: sequence) }
        do throws(HttpError) {
            return try await Call.response(to: self, with: service, in: sequence)
        } catch {
            throw service.mapError(error)
        }
    }
}
