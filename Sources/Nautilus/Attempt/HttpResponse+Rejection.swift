import Foundation

extension HttpResponse<Data> {
    /// The failure of a response whose body says what its status does not: an `error` in a 200, say.
    ///
    /// Thrown by ``Request/decode(_:)-(HttpResponse<Data>)``, it is to retriers what an answer with that status is: a 401
    /// has the credential refreshed, a 503 is retried.
    ///
    /// - Parameter status: The status that it should have had.
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
}
