/// One page on its way while the one before is being read; releasing it cancels the call.
final class PagePrefetch<Page: Sendable, Failure: Error>: Sendable {
    private let outcome: Locked<Result<Page, Failure>?>
    private let task: Task<Void, Never>

    init(_ fetch: @escaping @Sendable () async throws(Failure) -> Page) {
        // Not the object itself, so that the task does not keep it.
        let outcome = Locked<Result<Page, Failure>?>(nil)
        self.outcome = outcome
        self.task = BackgroundTask.startForCaller {
            let result = await Result { () async throws(Failure) in try await fetch() }
            outcome.withLock { $0 = result }
        }
    }

    deinit {
        task.cancel()
    }

    /// The page, once it is there. Cancelling the caller's task cancels the call.
    func page() async throws(Failure) -> Page {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            // The task's last act was to set it.
            preconditionFailure("the call ended without an outcome")
        }
        return try outcome.get()
    }
}
