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
