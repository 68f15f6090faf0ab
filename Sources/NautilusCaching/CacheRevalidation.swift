import Nautilus

/// Marks the call that asks the server anew about what has just been served stale.
final class CacheRevalidation: Sendable {
    @TaskLocal private static var entered: CacheRevalidation?

    let partition: CachePartition
    private let cache: ObjectIdentifier
    private let target: CacheTarget
    private let isOver = Locked(false)

    init(_ question: CacheQuestion, in cache: HttpCache) {
        (self.cache, target, partition) = (ObjectIdentifier(cache), question.target, question.partition)
    }

    /// Makes the call.
    func run(_ call: () async -> Void) async {
        // Tasks that it leaves behind ask as any other does.
        defer { isOver.withLock { $0 = true } }
        await Self.$entered.withValue(self, operation: call)
    }

    /// The current task's order to ask the server for `target`, whatever is stored in `cache`; nil in any other call.
    static func current(for target: CacheTarget, in cache: HttpCache) -> CacheRevalidation? {
        guard let mark = entered, mark.cache == ObjectIdentifier(cache), mark.target == target,
            !mark.isOver.withLock({ $0 })
        else { return nil }
        return mark
    }
}
