/// Several hooks as one, the first outermost.
///
/// ```swift
/// var hook: any ServiceHook { ComposedServiceHook(usage, cache) }
/// ```
/// They are asked in order, and the first that fulfils a call has fulfilled it: those after it are not asked. For those
/// before it the call has succeeded, so they get the success, with a response whose trace is still empty: one that
/// counts calls counts this one, and a small cache learns from a larger one behind it.
///
/// The end of a call is reported in the opposite order, so that the outermost gets it when the others have finished.
/// ``onFailure(_:error:)`` is called on all of them, also on those that were not asked because one before them has
/// thrown.
public struct ComposedServiceHook: ServiceHook {
    private let hooks: [any ServiceHook]

    /// Composes hooks, the first outermost; none is a hook that does nothing.
    public init(_ hooks: any ServiceHook...) {
        self.init(hooks)
    }

    /// Composes hooks, the first outermost; none is a hook that does nothing.
    public init(_ hooks: [any ServiceHook]) {
        self.hooks = hooks
    }

    /// Those of all of them.
    public var sharedObjects: [any AnyObject & Sendable] { hooks.flatMap(\.sharedObjects) }

    /// Has each note its own, in order.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        for hook in hooks { hook.noteFacts(of: request, in: &facts) }
    }

    /// Asks each in order until one fulfils the call, and tells those before it.
    ///
    /// - Throws: The error of the first that throws; those after it are not asked.
    public func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        for (index, hook) in hooks.enumerated() {
            guard let response = try await hook.onSchedule(request) else { continue }
            for outer in hooks[..<index].reversed() { await outer.onSuccess(request, response: response) }
            return response
        }
        return nil
    }

    /// Tells each, the last first.
    public func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
        for hook in hooks.reversed() { await hook.onSuccess(request, response: response) }
    }

    /// Tells each, the last first.
    public func onFailure<R: Request>(_ request: R, error: HttpError) async {
        for hook in hooks.reversed() { await hook.onFailure(request, error: error) }
    }
}
