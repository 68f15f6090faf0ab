import Foundation

extension InterceptorTier {
    /// Where a call interceptor stands among the others, wherever the list names it: the first is outermost.
    public enum CallStage: Int, Sendable {
        /// Changes requests, measures, logs. The default.
        case changing
        /// Answers from a store, in place of the server.
        case storing
        /// Makes one exchange of several.
        case sharing
    }
}

/// Wraps every call of a service as a whole, with all its attempts, before the call needs a credential: for caches,
/// shared requests and logs. To see or change each attempt, write a ``NetworkInterceptor``.
/// ```swift
/// struct RequestId: CallInterceptor {
///     func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
///         var request = request
///         request.header["X-Request-Id"] = UUID().uuidString
///         return try await next(request)
///     }
/// }
/// ```
/// Every attempt repeats its changes of the request; all else is read anew. If it sends a request to another origin,
/// sensitive fields of the service and the request (``HttpHeader/Name/isSensitive``) stay behind, unless their value
/// has been replaced.
public protocol CallInterceptor: HttpInterceptor {
    /// The rest of the path.
    typealias Next = CallContext.Next

    /// Where it stands among the others. Default: ``InterceptorTier/CallStage/changing``.
    var callTierStage: InterceptorTier.CallStage { get }

    /// The account of the user whose call it is, for an interceptor that keeps what it knows of one user from another; nil,
    /// the default, for none.
    ///
    /// Asked when a call is bound, before and after its retrier takes hold of a session: the name that both agree on is the
    /// call's ``CallContext/account``. It must return at once. An interceptor around another passes the question on.
    ///
    /// - Parameter request: The request as declared, for a service whose requests name their user.
    func account<R: Request>(of request: R) -> String?

    /// Handles a call: calls `next` once, or not at all (to answer by itself), or repeatedly, one after the other.
    ///
    /// - Returns: An answer. If it is not one that `next` has given, the call's request reads it; if that cannot be decoded,
    ///   and the call has sent nothing that may have changed something, the interceptors are asked once more, with
    ///   ``CallContext/mayShare`` false.
    /// - Throws: Any error; it surfaces, and no retrier is asked. An error of `next` is the framework's and keeps its kind,
    ///   as do errors of URL loading and cancellations; any other error becomes kind `custom`, and lies underneath.
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data>
}

extension CallInterceptor {
    /// Returns ``InterceptorTier/CallStage/changing``.
    public var callTierStage: InterceptorTier.CallStage { .changing }
    /// Nil.
    public func account<R: Request>(of request: R) -> String? { nil }
    /// Around a call.
    public var tier: InterceptorTier { .call(self) }
}

extension CallContext {
    /// The rest of a call's path: the later interceptors, and all attempts, with their retries.
    ///
    /// Not `Sendable` by design: it is called in the call's task, one time after the other.
    public struct Next {
        private let proceed: (HttpRequest, AttemptTerms) async throws -> HttpResponse<Data>

        /// Creates a path that ends here, as a test of an interceptor does.
        public init(_ send: @escaping (HttpRequest) async throws -> HttpResponse<Data>) {
            proceed = { request, _ in try await send(request) }
        }

        init(_ proceed: @escaping (HttpRequest, AttemptTerms) async throws -> HttpResponse<Data>) {
            self.proceed = proceed
        }

        /// Passes the request on, and returns an answer that the call's request accepts and has decoded.
        ///
        /// - Parameters:
        ///   - accepted: Further statuses that are answers, such as a cache's 304; the call's request does not read
        ///     them. Default: none.
        ///   - surfaces: Whether a failure surfaces at once, without the retrier being asked: for an interceptor that
        ///     knows better than to wait, such as a cache that has a stale answer. Default: nil, no failure does.
        /// - Throws: ``HttpError``, the last real failure.
        public func callAsFunction(
            _ request: HttpRequest,
            accepting accepted: HttpStatusCodes = [],
            surfacing surfaces: ((HttpError) -> Bool)? = nil
        ) async throws -> HttpResponse<Data> {
            try await proceed(request, AttemptTerms(accepted: accepted, surfaces: surfaces))
        }
    }
}

/// The terms that the call tier sets for the attempts within.
struct AttemptTerms {
    /// Statuses that are answers to the interceptor, whatever the request accepts.
    var accepted: HttpStatusCodes = []
    /// Whether a failure surfaces without the retrier being asked; nil: none does.
    var surfaces: ((HttpError) -> Bool)?

    /// These terms, asked inside `outer`.
    func within(_ outer: AttemptTerms) -> AttemptTerms {
        var terms = AttemptTerms(accepted: [outer.accepted, accepted], surfaces: surfaces ?? outer.surfaces)
        if let surfaces, let others = outer.surfaces { terms.surfaces = { surfaces($0) || others($0) } }
        return terms
    }
}
