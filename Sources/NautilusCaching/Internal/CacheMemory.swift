import Nautilus

/// The state that an HTTP cache guards with its lock: the responses in memory, and the fetches under way that may add
/// more.
struct CacheMemory: Sendable {
    /// One response for one account.
    private struct Entry: Sendable {
        let partition: CachePartition
        var stored: StoredResponse
        var lastUse: Int64
    }

    /// A target for one account.
    private struct Place: Hashable, Sendable {
        let target: CacheTarget
        let partition: CachePartition
    }

    /// The largest number of responses to one URL for one account that differ by the fields `Vary` names. With more
    /// variants, each is requested too rarely to be worth keeping.
    static let maxVariants = 8

    private let limit: Int
    private let maxResponse: Int
    private var entries: [CacheTarget: [Entry]] = [:]
    /// The fetches under way. A fetch no longer counts once its target has been removed.
    private var fetches: [Int64: Place] = [:]
    private var revalidations: Set<Place> = []
    private var uses: Int64 = 0

    /// The approximate number of bytes in use.
    private(set) var size = 0
    /// How many responses are stored.
    var count: Int { entries.reduce(0) { $0 + $1.value.count } }

    /// - Parameters:
    ///   - limit: How many bytes may be used.
    ///   - maxResponse: How many of those bytes one response may use.
    init(limit: Int, maxResponse: Int) {
        (self.limit, self.maxResponse) = (max(0, limit), max(0, min(maxResponse, limit)))
    }

    /// The stored answer to `request` (RFC 9111 §4): the latest if several match, nil when none does.
    mutating func find(_ target: CacheTarget, _ partition: CachePartition, _ request: HttpRequest) -> StoredResponse? {
        guard let index = entries.index(forKey: target) else { return nil }
        var found: Int?
        for place in entries.values[index].indices {
            let entry = entries.values[index][place]
            guard entry.partition == partition, entry.stored.matches(request) else { continue }
            // Of responses from the same second, take the one stored last, since new ones are appended.
            if let other = found, entries.values[index][other].stored.responseTime > entry.stored.responseTime {
                continue
            }
            found = place
        }
        guard let found else { return nil }
        uses += 1
        entries.values[index][found].lastUse = uses
        return entries.values[index][found].stored
    }

    /// All stored responses to a URL for an account.
    func variants(_ target: CacheTarget, _ partition: CachePartition) -> [StoredResponse] {
        (entries[target] ?? []).filter { $0.partition == partition }.map(\.stored)
    }

    /// Begins a fetch. Its answer may be stored unless its target is removed meanwhile.
    mutating func begin(_ target: CacheTarget, _ partition: CachePartition) -> Int64 {
        uses += 1
        fetches[uses] = Place(target: target, partition: partition)
        return uses
    }

    /// Ends a fetch.
    mutating func end(_ fetch: Int64) {
        fetches[fetch] = nil
    }

    /// Stores the answer of a fetch, replacing the stored answers to the same requests.
    ///
    /// - Returns: Whether it was stored; false when it is too large, or its target was removed after the fetch began.
    mutating func store(_ stored: StoredResponse, from fetch: Int64) -> Bool {
        guard let fetch = fetches[fetch], stored.size <= maxResponse else { return false }
        uses += 1
        var list = entries[fetch.target] ?? []
        remove(from: &list) { $0.partition == fetch.partition && $0.stored.selectors.selectSame(as: stored.selectors) }
        let own = list.filter { $0.partition == fetch.partition }
        if own.count >= Self.maxVariants, let oldest = own.map(\.lastUse).min() {
            remove(from: &list) { $0.lastUse == oldest }
        }
        list.append(Entry(partition: fetch.partition, stored: stored, lastUse: uses))
        size += stored.size
        entries[fetch.target] = list
        if size > limit { evict() }
        return true
    }

    /// Removes the response that a fetch was to renew, since the fetch's answer shows that it is outdated.
    mutating func remove(_ stored: StoredResponse, from fetch: Int64) {
        guard let fetch = fetches[fetch] else { return }
        remove(fetch.target) { $0.partition == fetch.partition && $0.stored.selectors.selectSame(as: stored.selectors) }
    }

    /// Removes a response to a URL for an account, even if its header has been renewed since.
    mutating func remove(bodyID: String, _ target: CacheTarget, _ partition: CachePartition) {
        remove(target) { $0.partition == partition && $0.stored.bodyID == bodyID }
    }

    /// Removes all responses to a URL, for all accounts, and discards the results of fetches under way.
    mutating func remove(_ target: CacheTarget) {
        fetches = fetches.filter { $0.value.target != target }
        remove(target) { _ in true }
    }

    /// Removes all responses of a partition, and discards the results of its fetches under way.
    mutating func removeAll(of partition: CachePartition) {
        fetches = fetches.filter { $0.value.partition != partition }
        for target in Array(entries.keys) { remove(target) { $0.partition == partition } }
    }

    /// Removes all responses outside these partitions, and discards the results of other partitions' fetches.
    mutating func removeAll(except kept: Set<CachePartition>) {
        fetches = fetches.filter { kept.contains($0.value.partition) }
        for target in Array(entries.keys) { remove(target) { !kept.contains($0.partition) } }
    }

    /// Removes everything.
    mutating func removeAll() {
        (entries, fetches, size) = ([:], [:], 0)
    }

    /// Whether the caller is to revalidate the target; false while another does.
    mutating func beginRevalidation(_ target: CacheTarget, _ partition: CachePartition) -> Bool {
        revalidations.insert(Place(target: target, partition: partition)).inserted
    }

    /// Ends a revalidation, whatever its result.
    mutating func endRevalidation(_ target: CacheTarget, _ partition: CachePartition) {
        revalidations.remove(Place(target: target, partition: partition))
    }

    private mutating func remove(_ target: CacheTarget, where isRemoved: (Entry) -> Bool) {
        guard var list = entries[target] else { return }
        remove(from: &list, where: isRemoved)
        entries[target] = list.isEmpty ? nil : list
    }

    private mutating func remove(from list: inout [Entry], where isRemoved: (Entry) -> Bool) {
        list.removeAll { entry in
            guard isRemoved(entry) else { return false }
            size -= entry.stored.size
            return true
        }
    }

    /// Removes the least recently used responses until seven eighths of the limit are in use: going through all of them
    /// for each new response would cost more than the cache saves.
    private mutating func evict() {
        let goal = limit - limit / 8
        let all = entries.values.joined().map { (use: $0.lastUse, size: $0.stored.size) }.sorted { $0.use < $1.use }
        var (left, lastEvicted) = (size, Int64.min)
        for entry in all where left > goal {
            left -= entry.size
            lastEvicted = entry.use
        }
        for target in Array(entries.keys) { remove(target) { $0.lastUse <= lastEvicted } }
    }
}
