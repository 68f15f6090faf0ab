import Nautilus

/// An interceptor's knowledge about each origin, or about each part of an origin, in a table that does not grow for
/// ever.
///
/// Most services talk to one origin, and the table is asked twice in every exchange, so the last key asked for is kept
/// at hand: comparing a key costs less than hashing it.
struct OriginTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Beyond this many, values that are worth nothing are dropped. It is far more than the origins a client talks to,
    /// unless its URLs come from others.
    static var idleLimit: Int { 256 }
    /// Beyond this many, the values that are worth least are dropped: origins named by others must not fill the memory,
    /// however much is known about each. About a megabyte.
    static var maxCount: Int { 1_024 }

    private var keys: [Key] = []
    private var values: [Value] = []
    private var places: [Key: Int] = [:]
    private var last = 0

    /// How many origins are known.
    var count: Int { keys.count }

    /// The place of `key`'s value, valid until the next call that adds one; nil when there is none.
    mutating func place(of key: Key) -> Int? {
        if last < keys.count, keys[last] == key { return last }
        guard let place = places[key] else { return nil }
        last = place
        return place
    }

    /// The sum of a figure over all values.
    func sum(of figure: (Key, Value) -> Int) -> Int {
        zip(keys, values).reduce(0) { $0 + figure($1.0, $1.1) }
    }

    /// The value at a place.
    subscript(place: Int) -> Value {
        get { values[place] }
        _modify { yield &values[place] }
    }

    /// The place of `key`'s value, which is created when there is none.
    ///
    /// - Parameters:
    ///   - makeValue: Creates the value of a new origin.
    ///   - worth: The loss if a value were forgotten.
    mutating func place(
        of key: Key,
        makeValue: () -> Value,
        worth: (inout Value) -> OriginWorth
    ) -> Int {
        if let place = place(of: key) { return place }
        // Values are examined again only once the table has grown considerably; otherwise every new origin would
        // examine them all.
        if keys.count >= limit { dropLeast(by: worth) }
        keys.append(key)
        values.append(makeValue())
        places[key] = keys.count - 1
        last = keys.count - 1
        return last
    }

    private var limit = Self.idleLimit

    /// Drops the values that are worth nothing and, if that is not enough, those that are worth least.
    private mutating func dropLeast(by worth: (inout Value) -> OriginWorth) {
        let worths = values.indices.map { worth(&values[$0]) }
        var kept = keys.indices.filter { worths[$0] > .nothing }
        if kept.count >= Self.maxCount {
            let dispensable = kept.filter { worths[$0] < .indispensable }.sorted { worths[$0] < worths[$1] }
            let dropped = Set(dispensable.prefix(kept.count - Self.maxCount * 3 / 4))
            kept.removeAll(where: dropped.contains)
        }
        (keys, values) = (kept.map { keys[$0] }, kept.map { values[$0] })
        places = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
        last = 0
        limit = max(Self.idleLimit, 2 * keys.count)
        if keys.count < Self.maxCount { limit = min(limit, Self.maxCount) }
    }
}

/// The loss if the value of an origin were forgotten.
enum OriginWorth: Comparable, Sendable {
    case nothing
    /// Something would be lost; values with a larger number are kept longer.
    case some(Double)
    /// A request waits in the value, or will come back to it; there are no more such values than calls.
    case indispensable
}
