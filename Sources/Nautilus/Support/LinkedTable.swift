/// Values by key, in an order that costs the same to change at every place: at its ends, in the middle, and however
/// many there are.
///
/// The nodes of a doubly linked list lie in one array without gaps, and a dictionary knows their places. The array is
/// as long as there are values, so that a crowd that has gone leaves no memory behind.
struct LinkedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var previous: Int
        var next: Int
    }

    /// In place of a neighbour that there is not.
    private static var none: Int { -1 }
    /// An empty table keeps the memory of this many: one that is filled and emptied by turns allocates nothing.
    private static var idleCapacity: Int { 64 }

    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var head = Self.none
    private var tail = Self.none

    /// How many values there are.
    var count: Int { nodes.count }

    /// The first value; nil when there is none.
    var first: Value? { nodes.isEmpty ? nil : nodes[head].value }

    /// The first entries, at most so many.
    func prefix(_ count: Int) -> [(key: Key, value: Value)] {
        entries(count) { ($0, $1) }
    }

    /// All values in their order.
    var values: [Value] { entries(count) { $1 } }

    private func entries<Entry>(_ count: Int, _ entry: (Key, Value) -> Entry) -> [Entry] {
        var (entries, place) = ([Entry](), head)
        entries.reserveCapacity(min(count, nodes.count))
        while entries.count < count, place != Self.none {
            entries.append(entry(nodes[place].key, nodes[place].value))
            place = nodes[place].next
        }
        return entries
    }

    /// The keys, in their order, whose values fulfil a condition.
    func keys(where isWanted: (Key, Value) -> Bool) -> [Key] {
        prefix(count).filter { isWanted($0.key, $0.value) }.map(\.key)
    }

    /// Adds a value at the end; one that has the key already gives way.
    mutating func append(_ value: Value, for key: Key) {
        if let place = places[key] { _ = remove(at: place) }
        nodes.append(Node(key: key, value: value, previous: Self.none, next: Self.none))
        places[key] = nodes.count - 1
        linkLast(nodes.count - 1)
    }

    /// Changes the value of `key` in its place; nil when there is none.
    ///
    /// - Parameter toEnd: Whether the value is the last afterwards.
    mutating func withValue<Result>(
        for key: Key,
        movingToEnd toEnd: Bool = false,
        _ body: (inout Value) -> Result
    ) -> Result? {
        guard let place = places[key] else { return nil }
        if toEnd, place != tail {
            unlink(place)
            linkLast(place)
        }
        return body(&nodes[place].value)
    }

    /// Takes the first value out; nil when there is none.
    mutating func popFirst() -> Value? {
        nodes.isEmpty ? nil : remove(at: head)
    }

    /// Takes the value of `key` out; nil when there is none.
    @discardableResult
    mutating func removeValue(for key: Key) -> Value? {
        places[key].map { remove(at: $0) }
    }

    /// Takes all values out, in their order.
    mutating func removeAll() -> [Value] {
        defer { self = LinkedTable() }
        return values
    }

    private mutating func remove(at place: Int) -> Value {
        unlink(place)
        let removed = nodes[place]
        places[removed.key] = nil
        // The last of the array fills the gap.
        let moved = nodes.removeLast()
        if place < nodes.count {
            nodes[place] = moved
            places[moved.key] = place
            link(moved.previous, to: place)
            link(place, to: moved.next)
        }
        if nodes.isEmpty, nodes.capacity > Self.idleCapacity { self = LinkedTable() }
        return removed.value
    }

    private mutating func unlink(_ place: Int) {
        link(nodes[place].previous, to: nodes[place].next)
    }

    private mutating func linkLast(_ place: Int) {
        link(tail, to: place)
        link(place, to: Self.none)
    }

    /// Makes two places neighbours; without the one, the other is an end.
    private mutating func link(_ previous: Int, to next: Int) {
        if previous == Self.none { head = next } else { nodes[previous].next = next }
        if next == Self.none { tail = previous } else { nodes[next].previous = previous }
    }
}

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
