extension Task where Failure == Never {
    /// A task for a part of the current one's work: with its task-local values, born cancelled when that one is.
    ///
    /// It begins on the caller's thread, where the system knows of that: a request that is under way in microseconds
    /// wakes no other thread for it.
    static func begin(_ operation: @escaping @Sendable () async -> Success) -> Task {
        let isCancelled = Task<Never, Never>.isCancelled
        let start: @Sendable () async -> Success = {
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return await operation()
        }
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(operation: start)
            }
        #endif
        return Task(operation: start)
    }
}
