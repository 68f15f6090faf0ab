import Foundation

/// Wraps every attempt of every call of a service: signs, logs, caches, measures.
///
/// ```swift
/// struct RequestId: HttpInterceptor {
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         var request = request
///         request.header["X-Request-Id"] = UUID().uuidString
///         return try await next(request)
///     }
/// }
/// ```
/// Shared by all calls and stateless, or guarding its own state. What comes back has not been validated: any status.
public protocol HttpInterceptor: Sendable {
    /// The rest of the path: the interceptors further in, then the credential, the exchange and its redirects.
    ///
    /// Not `Sendable` by design: it leads to the call's own retrier, so it is called in the call's task,
    /// one call after the other.
    typealias Next = (HttpRequest) async throws -> HttpResponse<Data>

    /// Handles one attempt: calls `next` once, not at all (it answers itself), or again (it retries by itself).
    ///
    /// - Throws: Any error; it becomes the attempt's failure. What `next` throws is the framework's and keeps its kind,
    ///   like errors of URL loading and cancellations; an error of your own becomes kind `custom`, and lies underneath.
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data>
}
