import Foundation

/// Gives every request that is not idempotent a key, under which the server recognises its repetition.
///
/// ```swift
/// var interceptors: [any HttpInterceptor] { [IdempotencyKeys()] }
/// var retrierFactory: any RetrierFactory {
///     BackoffRetrier.factory(.standard.with { $0.condition = .standard.retryingKeysInProgress() })
/// }
/// ```
/// With a key, a POST counts as idempotent: retriers repeat it although it may have been executed. So use it only for an
/// API which promises to heed `Idempotency-Key`, on every endpoint that the service calls; one that ignores it would
/// execute a repeated POST twice.
///
/// One key per call, the same on all its attempts: the call keeps the first, with the body that it was sent with. GET,
/// HEAD, PUT, DELETE, OPTIONS and TRACE need none, and a request's own key stays: a key that is stored with its purpose
/// has a repetition recognised even after the app has been started anew.
///
/// Source: draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyKeys: HttpInterceptor {
    private let makeKey: @Sendable () -> String

    /// Creates the interceptor.
    ///
    /// - Parameter makeKey: Draws a key that has never been drawn before. Default: a random UUID, unquoted, as most
    ///   APIs take it; the draft would have it in double quotes.
    public init(makeKey: @escaping @Sendable () -> String = { UUID().uuidString }) {
        self.makeKey = makeKey
    }

    /// True.
    public var addsIdempotencyKeys: Bool { true }

    /// Adds a key where one is missing.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        let needsKey = !request.method.isIdempotent && request.header[.idempotencyKey] == nil
        guard needsKey else { return try await next(request) }
        var request = request
        request.header[.idempotencyKey] = makeKey()
        return try await next(request)
    }
}
