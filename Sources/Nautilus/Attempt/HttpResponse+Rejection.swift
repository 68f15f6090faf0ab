import Foundation

extension HttpResponse<Data> {
    /// The failure that a response reports in its body, not by its status: an `error` in a 200, say.
    ///
    /// Thrown by ``Request/decode(_:)-(HttpResponse<Data>)``, it has in every respect the effect of an answer with that
    /// status: a 401 has the credential refreshed, a 503 is retried, counts for a circuit breaker, is not taken by a
    /// hedge and not stored as a success, and is the status in traces and events. Interceptors see the answer with it.
    /// Fields that you set before, such as a `Retry-After` from the body, count like the server's:
    /// ```swift
    /// func decode(_ response: HttpResponse<Data>) throws -> Answer {
    ///     var response = response
    ///     let answer = try JSONDecoder().decode(Answer.self, from: response.body)
    ///     guard let error = answer.error else { return answer }
    ///     response.header["Retry-After"] = error.seconds.map(String.init)
    ///     throw response.rejection(as: error.status)
    /// }
    /// ```
    /// Where the response is read while it comes (``Request/streamsResponse``), its failure is unknown before the body
    /// is read: interceptors have seen its 200 then, and the retrier alone is told. So it is with an answer that an
    /// interceptor has changed or made.
    ///
    /// It is this type's word alone. Calls of another type that share the answer read it for themselves
    /// (``HttpResponse/asReceived``), and a cache does not keep it.
    ///
    /// - Parameter status: The status that it should have had, from 400 to 599.
    public func rejection(as status: Int) -> HttpError {
        var response = self
        response.status = status
        return HttpError(
            .status(status),
            stage: .decode,
            delivery: Delivery(status: status, hasRetryAfter: header.retryAfter() != nil),
            response: response,
            retryAfter: header.retryAfter()
        )
    }

    /// Gives the response the status and the header of its rejection.
    mutating func reject(by error: HttpError) {
        guard case .status(let status) = error.kind else { return }
        reject(as: status, error.response?.header ?? header, error.delivery)
    }
}
