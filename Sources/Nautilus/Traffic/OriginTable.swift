/// What an interceptor knows of each origin, or of each part of one, without growing for ever.
///
/// Most services talk to one origin, and the table is asked twice in every exchange, so the last one asked for is at
/// hand: comparing a key costs less than hashing it.
struct OriginTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Beyond this many, those of whom nothing would be lost are dropped: far more than a client talks to, unless its URLs
    /// come from others.
    static var idleLimit: Int { 256 }

    private var keys: [Key] = []
    private var values: [Value] = []
    private var places: [Key: Int] = [:]
    private var last = 0

    /// How many origins are known.
    var count: Int { keys.count }

    /// Where the value of `key` is, until the next call that adds one; nil when there is none.
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

    /// Where the value of `key` is; it is made when there is none.
    ///
    /// - Parameters:
    ///   - makeValue: The value of an origin that is new.
    ///   - isIdle: Whether nothing would be lost with a value.
    mutating func place(
        of key: Key,
        makeValue: () -> Value,
        isIdle: (inout Value) -> Bool
    ) -> Int {
        if let place = place(of: key) { return place }
        // Looked at again only when the table has doubled: else every new origin would look at all.
        if keys.count >= limit {
            removeAll(where: isIdle)
            limit = max(Self.idleLimit, 2 * keys.count)
        }
        keys.append(key)
        values.append(makeValue())
        places[key] = keys.count - 1
        last = keys.count - 1
        return last
    }

    private var limit = Self.idleLimit

    private mutating func removeAll(where isIdle: (inout Value) -> Bool) {
        let kept = keys.indices.filter { !isIdle(&values[$0]) }
        (keys, values) = (kept.map { keys[$0] }, kept.map { values[$0] })
        places = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
        last = 0
    }
}
