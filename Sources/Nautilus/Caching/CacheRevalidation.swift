/// Marks the call that asks the server anew about what has just been served stale.
struct CacheRevalidation: Sendable {
    /// What the current task is to revalidate; nil in any other call.
    @TaskLocal static var current: CacheRevalidation?

    private let cache: ObjectIdentifier
    private let target: CacheTarget
    let partition: CachePartition

    init(_ question: CacheQuestion, in cache: HttpCache) {
        (self.cache, target, partition) = (ObjectIdentifier(cache), question.target, question.partition)
    }

    func isFor(_ target: CacheTarget, in cache: HttpCache) -> Bool {
        self.cache == ObjectIdentifier(cache) && self.target == target
    }
}
