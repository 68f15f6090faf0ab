/// Looks at the calls of a service as a whole: once per call, whatever the number of attempts.
/// ```swift
/// struct Usage: ServiceHook {
///     func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
///         print("\(R.self) took \(response.trace.duration)")
///     }
/// }
/// ```
/// A call asks its hook at most once, and reports its end at most once: a failure, or a success that is not the hook's
/// own answer. The question and the report of a success come in the same task. A call that was cancelled, or had no
/// time left, before it began reports its failure without having asked. See also ``around(_:)`` and
/// `CachingServiceHook`.
public protocol ServiceHook: Sendable {
    /// The hook of one call, asked when the call is bound, before its retrier is made; it must return at once. Default: this
    /// hook, for all calls.
    ///
    /// For a hook that must know whose call it is: by the time that a call ends, another user may have signed in. A hook
    /// around others asks them, too.
    ///
    /// - Parameters:
    ///   - request: The request as declared.
    ///   - environment: The service's base URL, without the query; services with different ones belong to different
    ///     environments. Empty if it is invalid.
    ///   - isAnonymous: Whether the call is anonymous, like those of ``HttpService/anonymous``: it has no user.
    func bound<R: Request>(to request: R, in environment: String, isAnonymous: Bool) -> any ServiceHook
    /// Called before anything is built. If the hook returns a response, the call ends with it: nothing is sent, and
    /// ``onSuccess(_:response:)`` is not called.
    ///
    /// - Returns: The response that the call returns; nil, the default, to go on.
    /// - Throws: Any error; the call fails with it, and ``onFailure(_:error:)`` is called. The error becomes kind
    ///   `custom` unless it is the framework's own, URL loading's or a cancellation.
    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>?
    /// Called after a call has succeeded, before the caller resumes; not for a call that the hook fulfilled itself.
    /// Default: nothing.
    func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async
    /// Called after a call has failed for good, before the caller resumes; also when ``onSchedule(_:)`` threw. The
    /// call's deadline does not apply here. Default: nothing.
    func onFailure<R: Request>(_ request: R, error: HttpError) async
}

extension ServiceHook {
    /// This hook.
    public func bound<R: Request>(to request: R, in environment: String, isAnonymous: Bool) -> any ServiceHook { self }
    /// Fulfils nothing.
    public func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? { nil }
    /// Does nothing.
    public func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {}
    /// Does nothing.
    public func onFailure<R: Request>(_ request: R, error: HttpError) async {}

    /// This hook around another one, as one hook.
    ///
    /// ```swift
    /// var hook: any ServiceHook { usage.around(cache) }
    /// ```
    /// This hook is asked first; if it fulfils the call, the inner hook is not asked. If the inner hook fulfils it, this
    /// one gets a success, with a response whose trace is still empty: so a hook that counts calls counts this one, and a
    /// small cache learns from a larger one behind it.
    ///
    /// The inner hook gets a call's end first. Both get a failure, even if ``onSchedule(_:)`` of this hook threw and the
    /// inner one was not asked.
    public func around(_ inner: any ServiceHook) -> any ServiceHook { ComposedServiceHook(outer: self, inner: inner) }
}

/// A hook that does nothing: the default.
package struct NilServiceHook: ServiceHook {
    package init() {}
}

private struct ComposedServiceHook: ServiceHook {
    let outer: any ServiceHook
    let inner: any ServiceHook

    func bound<R: Request>(to request: R, in environment: String, isAnonymous: Bool) -> any ServiceHook {
        ComposedServiceHook(
            outer: outer.bound(to: request, in: environment, isAnonymous: isAnonymous),
            inner: inner.bound(to: request, in: environment, isAnonymous: isAnonymous)
        )
    }

    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        if let response = try await outer.onSchedule(request) { return response }
        guard let response = try await inner.onSchedule(request) else { return nil }
        await outer.onSuccess(request, response: response)
        return response
    }

    func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
        await inner.onSuccess(request, response: response)
        await outer.onSuccess(request, response: response)
    }

    func onFailure<R: Request>(_ request: R, error: HttpError) async {
        await inner.onFailure(request, error: error)
        await outer.onFailure(request, error: error)
    }
}
