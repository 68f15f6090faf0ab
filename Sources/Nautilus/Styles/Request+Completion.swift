import Dispatch

// For code that is not asynchronous: each of these methods starts the call at once, in a task of its own. The call
// belongs to the user who is signed in when the method is called, and to the environment of that moment.
extension Request {
    /// Calls the service, and hands the decoded result to `completion` on the main actor, where views live.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - completion: Called exactly once, even if the call is cancelled; on the main actor, not before this method
    ///     has returned; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func schedule<S: HttpService>(
        with service: S,
        completion: @escaping @MainActor @Sendable (Swift.Result<Result, S.RequestError>) -> Void
    ) -> CallHandle {
        response(with: service) { completion($0.map(\.body)) }
    }

    /// Calls the service, and hands the decoded result to `completion` on a queue.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - queue: The queue on which `completion` runs; nil for the thread on which the call ends, which must not be
    ///     blocked.
    ///   - completion: Called exactly once, even if the call is cancelled; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func schedule<S: HttpService>(
        with service: S,
        on queue: DispatchQueue?,
        completion: @escaping @Sendable (Swift.Result<Result, S.RequestError>) -> Void
    ) -> CallHandle {
        response(with: service, on: queue) { completion($0.map(\.body)) }
    }

    /// Calls the service, and hands the result with its status, header and trace to `completion` on the main actor.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - completion: Called exactly once, even if the call is cancelled; on the main actor, not before this method
    ///     has returned; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func response<S: HttpService>(
        with service: S,
        completion: @escaping @MainActor @Sendable (Swift.Result<HttpResponse<Result>, S.RequestError>) -> Void
    ) -> CallHandle {
        let call = bound(to: service)
        return CallHandle { await completion(call.result(for: service)) }
    }

    /// Calls the service, and hands the result with its status, header and trace to `completion` on a queue.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - queue: The queue on which `completion` runs; nil for the thread on which the call ends, which must not be
    ///     blocked.
    ///   - completion: Called exactly once, even if the call is cancelled; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func response<S: HttpService>(
        with service: S,
        on queue: DispatchQueue?,
        completion: @escaping @Sendable (Swift.Result<HttpResponse<Result>, S.RequestError>) -> Void
    ) -> CallHandle {
        let call = bound(to: service)
        return CallHandle {
            let outcome = await call.result(for: service)
            guard let queue else { return completion(outcome) }
            queue.async { completion(outcome) }
        }
    }
}

/// A handle that cancels a call which was started with a completion handler.
///
/// ```swift
/// let call = GetNote(id: 7).schedule(with: service) { result in … }
/// call.cancel()
/// ```
/// Releasing the handle does not cancel the call.
public struct CallHandle: Sendable {
    private let task: Task<Void, Never>

    /// Starts the call, in a task of its own.
    init(_ work: @escaping @Sendable () async -> Void) {
        self.task = BackgroundTask.startForCaller(work)
    }

    /// Ends the call as soon as possible, even during a delay. Its completion handler gets the cancellation, unless the
    /// call has already ended: then the result stands.
    public func cancel() { task.cancel() }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { task.isCancelled }
}
