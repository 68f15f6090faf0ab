import Nautilus

/// The state that an HTTP cache guards by its lock: the responses in memory, and the fetches under way that may add
/// one.
struct CacheCore: Sendable {
    /// One response, of one account.
    private struct Entry: Sendable {
        let partition: CachePartition
        var stored: StoredResponse
        var lastUse: Int64
    }

    /// The target of a fetch: the fetch counts for nothing once that has been removed.
    private struct Fetch: Sendable {
        let target: CacheTarget
        let partition: CachePartition
    }

    /// The target of a revalidation.
    private struct Revalidation: Hashable, Sendable {
        let target: CacheTarget
        let partition: CachePartition
    }

    /// The most responses of one URL for one account that differ by the fields `Vary` names: where they differ by more,
    /// the same is not asked for often enough.
    static let maxVariants = 8

    private let limit: Int
    private let maxResponse: Int
    private var entries: [CacheTarget: [Entry]] = [:]
    private var fetches: [Int64: Fetch] = [:]
    private var revalidations: Set<Revalidation> = []
    private var uses: Int64 = 0

    /// The bytes that are taken, about.
    private(set) var size = 0
    /// How many responses are stored.
    var count: Int { entries.reduce(0) { $0 + $1.value.count } }

    /// - Parameters:
    ///   - limit: How many bytes may be taken.
    ///   - maxResponse: How many of them one response may.
    init(limit: Int, maxResponse: Int) {
        (self.limit, self.maxResponse) = (max(0, limit), max(0, min(maxResponse, limit)))
    }

    /// The stored answer to `request`: the latest, if several match (RFC 9111 §4); nil when none does.
    mutating func find(_ target: CacheTarget, _ partition: CachePartition, _ request: HttpRequest) -> StoredResponse? {
        guard let index = entries.index(forKey: target) else { return nil }
        var found: Int?
        for place in entries.values[index].indices {
            let entry = entries.values[index][place]
            guard entry.partition == partition, entry.stored.matches(request) else { continue }
            // Of one second, the one that was stored last: each is appended.
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

    /// All that is stored of a URL for an account.
    func variants(_ target: CacheTarget, _ partition: CachePartition) -> [StoredResponse] {
        (entries[target] ?? []).filter { $0.partition == partition }.map(\.stored)
    }

    /// Begins a fetch, whose answer may be stored unless its target is removed meanwhile.
    mutating func begin(_ target: CacheTarget, _ partition: CachePartition) -> Int64 {
        uses += 1
        fetches[uses] = Fetch(target: target, partition: partition)
        return uses
    }

    /// Ends a fetch.
    mutating func end(_ fetch: Int64) {
        fetches[fetch] = nil
    }

    /// Stores the answer that a fetch has brought, in the place of those to the same requests.
    ///
    /// - Returns: Whether it was stored; false when it is too large, or its target has been removed since it began.
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

    /// Removes what a fetch was to renew, for its answer says that it is outdated.
    mutating func remove(_ stored: StoredResponse, from fetch: Int64) {
        guard let fetch = fetches[fetch] else { return }
        remove(fetch.target) { $0.partition == fetch.partition && $0.stored.selectors.selectSame(as: stored.selectors) }
    }

    /// Removes a response of a URL for an account, also where its header has been renewed since.
    mutating func remove(bodyID: String, _ target: CacheTarget, _ partition: CachePartition) {
        remove(target) { $0.partition == partition && $0.stored.bodyID == bodyID }
    }

    /// Removes all of a URL, for all accounts, and has the fetches under way count for nothing.
    mutating func remove(_ target: CacheTarget) {
        fetches = fetches.filter { $0.value.target != target }
        remove(target) { _ in true }
    }

    /// Removes all of a partition, and has its fetches count for nothing.
    mutating func removeAll(of partition: CachePartition) {
        fetches = fetches.filter { $0.value.partition != partition }
        for target in Array(entries.keys) { remove(target) { $0.partition == partition } }
    }

    /// Removes all that is not of one of these partitions, and has the fetches of others count for nothing.
    mutating func removeAll(except kept: Set<CachePartition>) {
        fetches = fetches.filter { kept.contains($0.value.partition) }
        for target in Array(entries.keys) { remove(target) { !kept.contains($0.partition) } }
    }

    /// Removes everything.
    mutating func removeAll() {
        (entries, fetches, size) = ([:], [:], 0)
    }

    /// Whether the caller is to revalidate it: false while another does.
    mutating func beginRevalidation(_ target: CacheTarget, _ partition: CachePartition) -> Bool {
        revalidations.insert(Revalidation(target: target, partition: partition)).inserted
    }

    /// The revalidation has ended, however.
    mutating func endRevalidation(_ target: CacheTarget, _ partition: CachePartition) {
        revalidations.remove(Revalidation(target: target, partition: partition))
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

    /// Removes what has not been used for longest, down to seven eighths: looking at everything for each response that
    /// comes would cost more than the cache saves.
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
