import Foundation

/// Gives every request that is not idempotent a key, by which the server recognises a repetition.
///
/// ```swift
/// var interceptors: [any HttpInterceptor] { [IdempotencyKeys()] }
/// var retrierFactory: any RetrierFactory {
///     BackoffRetrier.factory(.standard.with { $0.condition = .standard.retryingKeysInProgress() })
/// }
/// ```
/// With a key, a POST counts as idempotent: retriers repeat it even if it may have been executed. So use this only for
/// an API that promises to heed `Idempotency-Key` on every endpoint that the service calls; an API that ignores it
/// would execute a repeated POST twice.
///
/// There is one key per call, the same in all its attempts: the call keeps the first key, with the body that it was
/// sent with. GET, HEAD, PUT, DELETE, OPTIONS and TRACE need none. A request's own key stays: if the app stores a key
/// with its purpose, the server recognises a repetition even after the app was restarted. Put it in front of interceptors
/// that change bodies: a key that is drawn for a body of their making is another one in each attempt, and makes nothing
/// repeatable.
///
/// Source: draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyKeys: CallInterceptor {
    private let makeKey: @Sendable () -> String

    /// Creates the interceptor.
    ///
    /// - Parameter makeKey: Draws a key that has never been drawn before. Default: nil, a random UUID, unquoted, as
    ///   most APIs expect it; the draft wants it in double quotes.
    public init(makeKey: (@Sendable () -> String)? = nil) {
        self.makeKey = makeKey ?? { UUID.random().uuidString }
    }

    /// Returns true.
    public var addsIdempotencyKeys: Bool { true }

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
