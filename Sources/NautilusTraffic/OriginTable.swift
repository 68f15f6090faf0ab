import Nautilus

/// An interceptor's knowledge of each origin, or of each part of one, without growing for ever.
///
/// Most services talk to one origin, and the table is asked twice in every exchange, so the last one asked for is at
/// hand: comparing a key costs less than hashing it.
struct OriginTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Beyond this many, those of which nothing would be lost are dropped: far more than a client talks to, unless its
    /// URLs come from others.
    static var idleLimit: Int { 256 }
    /// Beyond this many, those of which least would be lost are dropped: origins that others name must not fill the
    /// memory, however much is known of each. About a megabyte.
    static var maxCount: Int { 1_024 }

    private var keys: [Key] = []
    private var values: [Value] = []
    private var places: [Key: Int] = [:]
    private var last = 0

    /// How many origins are known.
    var count: Int { keys.count }

    /// The place of `key`'s value, until the next call that adds one; nil when there is none.
    mutating func place(of key: Key) -> Int? {
        if last < keys.count, keys[last] == key { return last }
        guard let place = places[key] else { return nil }
        last = place
        return place
    }

    /// The sum of a figure over all.
    func sum(of figure: (Key, Value) -> Int) -> Int {
        zip(keys, values).reduce(0) { $0 + figure($1.0, $1.1) }
    }

    /// The value at a place.
    subscript(place: Int) -> Value {
        get { values[place] }
        _modify { yield &values[place] }
    }

    /// The place of `key`'s value, which is made when there is none.
    ///
    /// - Parameters:
    ///   - makeValue: The value of an origin that is new.
    ///   - worth: The loss if a value were forgotten.
    mutating func place(
        of key: Key,
        makeValue: () -> Value,
        worth: (inout Value) -> OriginWorth
    ) -> Int {
        if let place = place(of: key) { return place }
        // Looked at again only when the table has grown by a part: else every new origin would look at all.
        if keys.count >= limit { dropLeast(by: worth) }
        keys.append(key)
        values.append(makeValue())
        places[key] = keys.count - 1
        last = keys.count - 1
        return last
    }

    private var limit = Self.idleLimit

    /// Drops the values with which nothing would be lost, and when that is not enough, those with which least would.
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
    /// The more, the longer it is kept.
    case some(Double)
    /// A request waits in it, or will come back to it: there are no more of these than there are calls.
    case indispensable
}
