extension BackgroundTask {
    /// Starts `work` that its caller awaits by other means: a completion handler, a page ahead.
    ///
    /// Unlike ``start(_:)`` it keeps the caller's priority, and names the call around it: the work is the caller's own. The
    /// caller's cancellation and deadline do not reach it; the holder of the task cancels it.
    package static func startForCaller(_ work: @escaping Work) -> Task<Void, Never> {
        starter?(work) ?? Task(operation: work)
    }
}
