extension Request {
    /// The request that a call would begin with, as a `curl` command for a POSIX shell. Nothing is sent.
    ///
    /// ```swift
    /// print(try await GetNote(id: 7).curlCommand(with: service))
    /// // curl --request GET --user-agent Nautilus 'https://api.example.com/v1/notes/7'
    /// ```
    /// The command includes ``HttpService/asyncHeader``. It leaves out what interceptors and the retrier add, such as a
    /// session's token: asking for a token could begin a refresh.
    ///
    /// - Parameters:
    ///   - service: The service that the call would go to.
    ///   - showsSecrets: Whether to show queries, secret path components, the values of sensitive fields, and the body.
    ///     Default: false, since such a command ends up in logs and tickets. With true, it sends exactly this request.
    /// - Throws: The service's own error, for a request that cannot be built.
    public func curlCommand<S: HttpService>(
        with service: S,
        showsSecrets: Bool = false
    ) async throws(S.RequestError) -> String {
        do {
            let configuration = service.configuration
            let header = try await configuration.headers()
            let target = try CallTarget(of: self, for: configuration)
            var builder = RequestBuilder()
            let built = try configuration.coders.asCurrent { try builder.build(self, to: target, with: header) }
            return built.curlCommand(showsSecrets: showsSecrets)
        } catch {
            throw service.mapError(HttpError(wrapping: error, stage: .build, delivery: .notSent))
        }
    }
}
