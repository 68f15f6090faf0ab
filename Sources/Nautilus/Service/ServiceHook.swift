/// Looks at the calls of a service as a whole: once per call, whatever the number of attempts.
///
/// ```swift
/// struct Usage: ServiceHook {
///     func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
///         print("\(R.self) took \(response.trace.duration)")
///     }
/// }
/// ```
/// A call asks it at most once, and then reports its end at most once: a success, unless the hook has fulfilled the
/// call itself, or a failure. A call that was cancelled before it began, or has no time to begin, reports its failure
/// without having asked. The question and the report of a success come in the same task.
///
/// To wrap every attempt, write an ``HttpInterceptor``; for several hooks, see ``ComposedServiceHook``; to remember
/// results, see `CachingServiceHook`.
public protocol ServiceHook: ServicePart {
    /// Called before anything is built. A response fulfils the call at once: nothing is sent, and
    /// ``onSuccess(_:response:)`` is not called.
    ///
    /// - Returns: The response that the call returns; nil, the default, to go on.
    /// - Throws: Any error; the call fails with it, and ``onFailure(_:error:)`` is called. It becomes kind `custom`
    ///   unless it is the framework's own, URL loading's or a cancellation.
    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>?
    /// Called after a call has succeeded, before the caller resumes; not for a call that the hook fulfilled itself.
    /// Default: nothing.
    func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async
    /// Called after a call has failed for good, before the caller resumes; also when ``onSchedule(_:)`` threw. The
    /// call's deadline does not hold for it. Default: nothing.
    func onFailure<R: Request>(_ request: R, error: HttpError) async
}

extension ServiceHook {
    /// Fulfils nothing.
    public func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? { nil }
    /// Does nothing.
    public func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {}
    /// Does nothing.
    public func onFailure<R: Request>(_ request: R, error: HttpError) async {}
}

/// A hook that does nothing: the default.
public struct NilServiceHook: ServiceHook {
    /// Creates the hook.
    public init() {}
}
