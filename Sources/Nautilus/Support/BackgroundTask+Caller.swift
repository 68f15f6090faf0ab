extension BackgroundTask {
    /// Starts `work` that somebody waits for by other means than awaiting it: a completion handler, a page ahead.
    ///
    /// Unlike ``start(_:)`` it keeps the caller's deadline and priority: the work is the caller's own. The caller's
    /// cancellation does not reach it; whoever holds the task cancels it.
    package static func startForCaller(_ work: @escaping Work) -> Task<Void, Never> {
        starter?(work) ?? Task(operation: work)
    }
}
