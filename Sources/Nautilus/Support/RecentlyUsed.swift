/// Values by key, of which the least recently used gives way when there are too many: what is kept for each origin must
/// not fill the memory of a process that meets ever new ones.
package struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var lastUse: Int64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var uses: Int64 = 0

    /// - Parameter limit: How many values are kept, at least 1.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    package var count: Int { entries.count }

    /// The value of `key`; nil when there is none. Counts as a use.
    package mutating func value(for key: Key) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].value
    }

    /// What `body` makes of the value of `key`, which it may change in its place; nil when there is none. Counts as a use.
    package mutating func withValue<Result>(for key: Key, _ body: (inout Value) -> Result) -> Result? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return body(&entries.values[index].value)
    }

    /// Removes the value of `key`, and returns it; nil when there is none.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        entries.removeValue(forKey: key)?.value
    }

    /// Removes the values of all keys that fulfil a condition.
    package mutating func removeAll(where isRemoved: (Key) -> Bool) {
        entries = entries.filter { !isRemoved($0.key) }
    }

    /// Changes the value of `key` in its place, or `initial` when there is none. Counts as a use.
    package mutating func update(
        _ key: Key,
        default initial: @autoclosure () -> Value,
        _ change: (inout Value) -> Void
    ) {
        uses += 1
        if let index = entries.index(forKey: key) {
            entries.values[index].lastUse = uses
            return change(&entries.values[index].value)
        }
        var value = initial()
        change(&value)
        entries[key] = Entry(value: value, lastUse: uses)
        guard entries.count > limit else { return }
        if let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) { entries[oldest.key] = nil }
    }
}
