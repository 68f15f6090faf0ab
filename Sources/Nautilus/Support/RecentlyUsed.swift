/// Values by key, of which the least recently used gives way when there are too many: values kept for each origin must
/// not fill the memory of a process that meets ever new ones.
///
/// A use costs the same however many there are, since it happens under the caller's lock.
package struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    /// The least recently used first.
    private var values = LinkedTable<Key, Value>()

    /// - Parameter limit: How many values are kept, at least 1.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    package var count: Int { values.count }

    /// The value of `key`; nil when there is none. Counts as a use.
    package mutating func value(for key: Key) -> Value? {
        values.withValue(for: key, movingToEnd: true) { $0 }
    }

    /// The result of `body` for the value of `key`, which it may change in place; nil when there is none. Counts as a
    /// use.
    package mutating func withValue<Result>(for key: Key, _ body: (inout Value) -> Result) -> Result? {
        values.withValue(for: key, movingToEnd: true, body)
    }

    /// Removes the value of `key`, and returns it; nil when there is none.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        values.removeValue(for: key)
    }

    /// Removes the values of all keys that fulfil a condition.
    package mutating func removeAll(where isRemoved: (Key) -> Bool) {
        for key in values.keys(where: { key, _ in isRemoved(key) }) { values.removeValue(for: key) }
    }

    /// Changes the value of `key` in its place, or `initial` when there is none. Counts as a use.
    package mutating func update(
        _ key: Key,
        default initial: @autoclosure () -> Value,
        _ change: (inout Value) -> Void
    ) {
        if values.withValue(for: key, movingToEnd: true, change) != nil { return }
        var value = initial()
        change(&value)
        values.append(value, for: key)
        if values.count > limit { _ = values.popFirst() }
    }
}
