extension Request {
    /// The request that a call would begin with, as a `curl` command for a POSIX shell. Nothing is sent.
    ///
    /// ```swift
    /// print(try await GetNote(id: 7).curlCommand(with: service))
    /// // curl --request GET --user-agent Nautilus 'https://api.example.com/v1/notes/7'
    /// ```
    /// Shows the request as it and the service declare it, including ``HttpService/asyncHeader``. Additions by
    /// interceptors and the retrier, such as a session's token, are missing, since asking for them could begin a
    /// refresh.
    ///
    /// - Parameters:
    ///   - service: The service that the call would go to.
    ///   - showsSecrets: Whether queries, secret path components, the values of sensitive fields, and the body are
    ///     shown, so that the command sends exactly this request. Default: false, since such a command ends up in logs
    ///     and tickets.
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
