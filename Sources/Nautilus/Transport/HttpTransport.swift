import Foundation

/// Moves one request and one response: no redirects, no retries, no cookies, no cache, no policy.
///
/// ```swift
/// struct Offline: HttpTransport {
///     func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
///         throw TransportError.failed(.notConnectedToInternet, delivery: .notSent, reason: "offline")
///     }
/// }
/// ```
/// `TransportConformance` of the test kit checks an implementation.
public protocol HttpTransport: Sendable {
    /// Sends `request` once and returns the response with its whole body, whatever its status.
    ///
    /// Cancelling the task ends the exchange at once, with `CancellationError`. Timeouts are the caller's.
    ///
    /// - Throws: ``TransportError``; ``InvalidRequest`` for a method or a header that cannot be sent; the error of a
    ///   body stream; `CancellationError`.
    func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data>
}
