import Dispatch

// For code that cannot wait: each of these starts the call at once, in a task of its own. It belongs to whoever is
// signed in when it is made, and to the environment of that moment.
extension Request {
    /// Calls the service, and hands the decoded result to `completion` on the main actor, where views live.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - completion: Called exactly once, also when the call is cancelled, and on the main actor not before this has
    ///     returned; released afterwards.
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
    ///   - completion: Called exactly once, also when the call is cancelled; released afterwards.
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
    ///   - completion: Called exactly once, also when the call is cancelled, and on the main actor not before this has
    ///     returned; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func response<S: HttpService>(
        with service: S,
        completion: @escaping @MainActor @Sendable (Swift.Result<HttpResponse<Result>, S.RequestError>) -> Void
    ) -> CallHandle {
        let run = made(with: service)
        return CallHandle { await completion(run()) }
    }

    /// Calls the service, and hands the result with its status, header and trace to `completion` on a queue.
    ///
    /// - Parameters:
    ///   - service: Where the call goes.
    ///   - queue: The queue on which `completion` runs; nil for the thread on which the call ends, which must not be
    ///     blocked.
    ///   - completion: Called exactly once, also when the call is cancelled; released afterwards.
    /// - Returns: The handle that cancels the call.
    @discardableResult
    public func response<S: HttpService>(
        with service: S,
        on queue: DispatchQueue?,
        completion: @escaping @Sendable (Swift.Result<HttpResponse<Result>, S.RequestError>) -> Void
    ) -> CallHandle {
        let run = made(with: service)
        return CallHandle {
            let outcome = await run()
            guard let queue else { return completion(outcome) }
            queue.async { completion(outcome) }
        }
    }
}

/// A handle on a call that was started with a completion handler, with which to cancel it.
///
/// ```swift
/// let call = GetNote(id: 7).schedule(with: service) { result in … }
/// call.cancel()
/// ```
/// Releasing it cancels nothing.
public struct CallHandle: Sendable {
    private let task: Task<Void, Never>

    /// Starts the call, in a task of its own.
    init(_ work: @escaping @Sendable () async -> Void) {
        self.task = BackgroundTask.startForCaller(work)
    }

    /// Ends the call as soon as possible, also in the middle of a delay. Its completion handler gets the cancellation,
    /// unless the call has ended already: then its result stays.
    public func cancel() { task.cancel() }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { task.isCancelled }
}
