import Foundation

/// Where a call interceptor stands among the others, wherever the list names it: the first is outermost.
public enum CallTierStage: Int, Sendable {
    /// Changes requests, measures, logs. The default.
    case changing
    /// Answers from a store, in place of the server.
    case storing
    /// Makes one exchange of several.
    case sharing
}

/// Wraps every attempt of every call of a service, before a credential has been asked for: caches, shares, logs.
///
/// ```swift
/// struct RequestId: CallInterceptor {
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         var request = request
///         request.header["X-Request-Id"] = UUID().uuidString
///         return try await next(request)
///     }
/// }
/// ```
/// The response has not been validated and may have any status. Whether it could be decoded, and what was finally sent, is
/// reported by ``AttemptContext/follow(_:)``.
///
/// When an interceptor sends a request to another origin, fields set by the service or the request stay behind if their
/// names are sensitive (``HttpHeader/Name/isSensitive``), such as `Cookie` or `X-Api-Key`; a sensitive field with a
/// different value goes along.
public protocol CallInterceptor: HttpInterceptor {
    /// The rest of the path: the interceptors further in, the credential, the exchange and its redirects.
    ///
    /// Not `Sendable` by design: it must be called in the call's task, one call after the other.
    typealias Next = (HttpRequest) async throws -> HttpResponse<Data>

    /// Where it stands among the others. Default: ``CallTierStage/changing``.
    var callTierStage: CallTierStage { get }

    /// Handles one attempt: calls `next` once, or not at all (to answer by itself), or repeatedly (to retry by itself).
    ///
    /// - Throws: Any error; it becomes the attempt's failure. An error of `next` is the framework's and keeps its kind,
    ///   as do errors of URL loading and cancellations; any other error becomes kind `custom`, and lies underneath.
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data>
}

extension CallInterceptor {
    /// Returns ``CallTierStage/changing``.
    public var callTierStage: CallTierStage { .changing }
    /// Around a call.
    public var tier: InterceptorTier { .call(self) }
}
