import Foundation

/// Corrects the status of answers by which a server means another status, for every request of a service.
///
/// ```swift
/// // This server answers 419 when the access token has expired.
/// var interceptors: [any HttpInterceptor] { [StatusCorrection { $0.status == 419 ? 401 : nil }] }
/// ```
/// With a 401, the credential is refreshed, once for all calls, and the attempt repeated. A status corrected to 503
/// is retried and counts for a circuit breaker. For one request type, declare
/// ``Request/status(of:)``.
///
/// All that holds requests back, retries or stores sees the corrected status. The trace shows the corrected
/// status as the attempt's outcome, and the server's own in ``CallTrace/Exchange/outcome-swift.property``.
public struct StatusCorrection: NetworkInterceptor {
    private let correct: @Sendable (HttpResponse<Data>) -> Int?

    /// Creates the interceptor.
    ///
    /// - Parameter correct: Returns the status that the answer should have had; nil if its own is right. The body is
    ///   empty if it is read as it arrives (``HttpResponse/isStreamed``).
    public init(_ correct: @escaping @Sendable (HttpResponse<Data>) -> Int?) {
        self.correct = correct
    }

    /// Corrects the answer's status.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        var response = try await next(request)
        if let status = correct(response) { response.status = status }
        return response
    }
}
