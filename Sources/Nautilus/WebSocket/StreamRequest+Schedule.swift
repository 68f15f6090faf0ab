extension StreamRequest {
    /// Opens the web socket, on the path of every call: headers, interceptors, credential, redirects, retries.
    ///
    /// - Returns: The open socket; releasing it closes it.
    /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the last real failure.
    public func schedule<S: HttpService>(with service: S) async throws(S.RequestError) -> MessageStream<Self> {
        if let selected = service.selectedService { return try await schedule(with: selected) }
        do throws(HttpError) {
            let opening = WebSocketService(service)
            let call = WebSocketCall(request: self, handshake: opening.handshake)
            let calls = CallSequence()
            let response = try await Call.response(to: call, with: opening, in: calls)
            return MessageStream(self, response.body.connection, opened: response.trace, service: service, in: calls)
        } catch {
            throw service.mapError(error)
        }
    }
}
