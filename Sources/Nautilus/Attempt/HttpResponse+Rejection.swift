import Foundation

extension HttpResponse<Data> {
    /// Creates the failure that a response reports in its body rather than by its status, such as an `error` in a 200.
    ///
    /// Thrown by ``Request/decode(_:)-(HttpResponse<Data>)``, it acts in every respect like an answer with that status.
    /// A 401 has the credential refreshed; a 503 is retried, counts for a circuit breaker, does not win a hedge, and is
    /// not stored as a success. Traces and events show that status, and interceptors see the answer with it. Fields
    /// that you set before, such as a `Retry-After` from the body, count like the server's:
    /// ```swift
    /// func decode(_ response: HttpResponse<Data>) throws -> Answer {
    ///     var response = response
    ///     let answer = try JSONDecoder().decode(Answer.self, from: response.body)
    ///     guard let error = answer.error else { return answer }
    ///     response.header["Retry-After"] = error.seconds.map(String.init)
    ///     throw response.rejection(as: error.status)
    /// }
    /// ```
    /// If the response is read while it arrives (``Request/streamsResponse``), its failure is not known before the body
    /// is read: interceptors have seen the 200 by then, and only the retrier learns of the failure. The same goes for
    /// an answer that an interceptor has changed or made.
    ///
    /// The judgement is this request type's alone. Calls of another type that share the answer read it themselves
    /// (``HttpResponse/asReceived``), and a cache does not keep it.
    ///
    /// - Parameter status: The status that the answer should have had, from 400 to 599.
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
