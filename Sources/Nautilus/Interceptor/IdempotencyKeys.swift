import Foundation

/// Gives every request that is not idempotent a key, by which the server recognises a repetition
/// (draft-ietf-httpapi-idempotency-key-header).
/// ```swift
/// var interceptors: [any HttpInterceptor] { [IdempotencyKeys()] }
/// var retrierFactory: any RetrierFactory {
///     BackoffRetrier.factory(.standard.with { $0.condition = .standard.retryingKeysInProgress() })
/// }
/// ```
/// With a key, a POST counts as idempotent: retriers repeat it even if it may have been executed. So use this only if
/// the API promises to honour `Idempotency-Key` on every endpoint that the service calls. A call keeps its first key, and
/// the body sent with it, in all attempts. A request's own key stays. Put this in front of interceptors that change
/// bodies: a key for a body of theirs would be another one in each attempt, and makes nothing repeatable.
public struct IdempotencyKeys: CallInterceptor {
    private let makeKey: @Sendable () -> String

    /// Creates the interceptor.
    ///
    /// - Parameter makeKey: Draws a key that has never been drawn before. Default: nil, a random UUID, unquoted, as
    ///   most APIs expect it; the draft wants it in double quotes.
    public init(makeKey: (@Sendable () -> String)? = nil) {
        self.makeKey = makeKey ?? { UUID.random().uuidString }
    }

    /// Adds a key if the request needs one and has none.
    public func intercept(
        _ request: HttpRequest,
        context: CallContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        let needsKey = !request.method.isIdempotent && request.header[.idempotencyKey] == nil
        guard needsKey else { return try await next(request) }
        var request = request
        request.header[.idempotencyKey] = makeKey()
        return try await next(request)
    }
}
