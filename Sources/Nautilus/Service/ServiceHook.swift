/// Looks at the calls of a service as a whole: once per call, whatever the number of attempts.
///
/// ```swift
/// struct Usage: ServiceHook {
///     func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
///         print("\(R.self) took \(response.trace.duration)")
///     }
/// }
/// ```
/// A call asks its hook at most once, and reports its end at most once: a failure, or a success that is not the hook's
/// own answer. A call that was cancelled before it began, or had no time left to begin, reports its failure without
/// having asked. The question and the report of a success come in the same task.
///
/// To wrap every attempt, write a ``CallInterceptor``; for several hooks, see ``ComposedServiceHook``; to remember
/// results, see `CachingServiceHook`.
public protocol ServiceHook: ServicePart {
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
}

/// A hook that does nothing: the default.
package struct NilServiceHook: ServiceHook {
    package init() {}
}

/// Several hooks as one, the first outermost.
///
/// ```swift
/// var hook: any ServiceHook { ComposedServiceHook(usage, cache) }
/// ```
/// The hooks are asked in order until one fulfils the call; the hooks after that one are not asked. The hooks before it
/// get a success, with a response whose trace is still empty: so a hook that counts calls counts this one, and a small
/// cache learns from a larger one behind it.
///
/// The end of a call is reported in the opposite order, so that the outermost hook gets it when the others have
/// finished. ``onFailure(_:error:)`` is called on all hooks, even on those that were not asked because an earlier one
/// threw.
public struct ComposedServiceHook: ServiceHook {
    private let hooks: [any ServiceHook]

    /// Composes hooks, the first outermost. Without any, the composed hook does nothing.
    public init(_ hooks: any ServiceHook...) {
        self.init(hooks)
    }

    /// Composes hooks, the first outermost. Without any, the composed hook does nothing.
    public init(_ hooks: [any ServiceHook]) {
        self.hooks = hooks
    }

    /// The shared objects of all hooks.
    public var sharedObjects: [any AnyObject & Sendable] { hooks.flatMap(\.sharedObjects) }

    /// The hooks of one call, in the same order.
    public func bound<R: Request>(to request: R, in environment: String, isAnonymous: Bool) -> any ServiceHook {
        ComposedServiceHook(hooks.map { $0.bound(to: request, in: environment, isAnonymous: isAnonymous) })
    }

    /// Asks the hooks in order until one fulfils the call, and reports a success to those before it.
    ///
    /// - Throws: The error of the first hook that throws; those after it are not asked.
    public func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        for (index, hook) in hooks.enumerated() {
            guard let response = try await hook.onSchedule(request) else { continue }
            for outer in hooks[..<index].reversed() { await outer.onSuccess(request, response: response) }
            return response
        }
        return nil
    }

    /// Tells each hook, the last one first.
    public func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
        for hook in hooks.reversed() { await hook.onSuccess(request, response: response) }
    }

    /// Tells each hook, the last one first.
    public func onFailure<R: Request>(_ request: R, error: HttpError) async {
        for hook in hooks.reversed() { await hook.onFailure(request, error: error) }
    }
}
