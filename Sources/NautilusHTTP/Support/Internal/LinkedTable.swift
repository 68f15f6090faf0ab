/// Values by key, in an order that can be changed in constant time, at the ends and in the middle, however many values
/// there are.
///
/// The nodes of a doubly linked list are in one array without gaps, and a dictionary maps keys to places in it. The
/// array has as many elements as there are values, and an emptied table gives up the memory that a crowd has needed.
package struct LinkedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var previous: Int
        var next: Int
    }

    /// The place of a neighbour that does not exist.
    private static var none: Int { -1 }
    /// The number of values for which an empty table keeps memory, so that filling and emptying it in turns allocates
    /// nothing.
    private static var idleCapacity: Int { 64 }

    private var nodes: [Node] = []
    private var places: [Key: Int] = [:]
    private var head = Self.none
    private var tail = Self.none

    package init() {}

    /// How many values there are.
    package var count: Int { nodes.count }

    /// The first value; nil if there is none.
    var first: Value? { nodes.isEmpty ? nil : nodes[head].value }

    /// The first entries, at most `count`.
    package func prefix(_ count: Int) -> [(key: Key, value: Value)] {
        entries(count) { ($0, $1) }
    }

    /// All values, in order.
    package var values: [Value] { entries(count) { $1 } }

    private func entries<Entry>(_ count: Int, _ entry: (Key, Value) -> Entry) -> [Entry] {
        var (entries, place) = ([Entry](), head)
        entries.reserveCapacity(min(count, nodes.count))
        while entries.count < count, place != Self.none {
            entries.append(entry(nodes[place].key, nodes[place].value))
            place = nodes[place].next
        }
        return entries
    }

    /// The keys of the entries that fulfil a condition, in order.
    func keys(where isWanted: (Key, Value) -> Bool) -> [Key] {
        prefix(count).filter { isWanted($0.key, $0.value) }.map(\.key)
    }

    /// Adds a value at the end; it replaces a value with the same key.
    package mutating func append(_ value: Value, for key: Key) {
        if let place = places[key] { _ = remove(at: place) }
        nodes.append(Node(key: key, value: value, previous: Self.none, next: Self.none))
        places[key] = nodes.count - 1
        linkLast(nodes.count - 1)
    }

    /// Changes the value of `key` in place; returns nil if there is none.
    ///
    /// - Parameter toEnd: Whether the value moves to the end.
    package mutating func withValue<Result>(
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

    /// Removes and returns the first value; nil if there is none.
    mutating func popFirst() -> Value? {
        nodes.isEmpty ? nil : remove(at: head)
    }

    /// Removes and returns the value of `key`; nil if there is none.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        places[key].map { remove(at: $0) }
    }

    private mutating func remove(at place: Int) -> Value {
        unlink(place)
        let removed = nodes[place]
        places[removed.key] = nil
        // The last node of the array fills the gap.
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

    /// Makes two places neighbours; if one of them is `none`, the other becomes an end of the list.
    private mutating func link(_ previous: Int, to next: Int) {
        if previous == Self.none { head = next } else { nodes[previous].next = next }
        if next == Self.none { tail = previous } else { nodes[next].previous = previous }
    }
}

/// Values by key, of which the least recently used is dropped when there are too many, so that values kept for each
/// origin do not fill the memory of a process that keeps meeting new origins.
///
/// A use takes constant time, however many values there are, since it happens under the caller's lock.
package struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    /// The values, the least recently used first.
    private var values = LinkedTable<Key, Value>()

    /// - Parameter limit: How many values are kept, at least 1.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    package var count: Int { values.count }

    /// The value of `key`; nil if there is none. Counts as a use.
    package mutating func value(for key: Key) -> Value? {
        values.withValue(for: key, movingToEnd: true) { $0 }
    }

    /// The result of `body`, which may change the value of `key` in place; nil if there is none. Counts as a use.
    package mutating func withValue<Result>(for key: Key, _ body: (inout Value) -> Result) -> Result? {
        values.withValue(for: key, movingToEnd: true, body)
    }

    /// Removes and returns the value of `key`; nil if there is none.
    @discardableResult
    package mutating func removeValue(for key: Key) -> Value? {
        values.removeValue(for: key)
    }

    /// Removes the values of all keys that fulfil a condition.
    package mutating func removeAll(where isRemoved: (Key) -> Bool) {
        for key in values.keys(where: { key, _ in isRemoved(key) }) { values.removeValue(for: key) }
    }

    /// Changes the value of `key` in place; if there is none, adds `initial` with the change. Counts as a use.
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
