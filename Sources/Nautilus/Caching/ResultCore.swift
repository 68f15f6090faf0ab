/// What a caching hook guards by its lock: the results, and the calls under way that may bring one. Users' values are
/// compared and released under it, as the hook's documentation says.
struct ResultCore: Sendable {
    private struct Key: Hashable, Sendable {
        let request: RequestKey
        let account: String
    }

    private struct Entry: Sendable {
        let response: any Sendable
        let time: Duration
    }

    /// A call under way.
    private struct Visit: Hashable, Sendable {
        let request: RequestKey
        let task: Int
    }

    private struct Beginning: Sendable {
        let account: String
        let removals: Int64
    }

    /// The end of a call that fails by its deadline is told by another task, so some visits stay: the oldest give way.
    private static let maxVisits = 1_000

    private let timeToLive: Duration
    private var entries: RecentlyUsed<Key, Entry>
    private var visits = RecentlyUsed<Visit, Beginning>(limit: maxVisits)
    private var removals: Int64 = 0

    init(timeToLive: Duration, maxCount: Int) {
        self.timeToLive = timeToLive
        self.entries = RecentlyUsed(limit: maxCount)
    }

    var count: Int { entries.count }

    /// The response to a request, if it is good; otherwise the call goes on, and may bring one.
    mutating func find(_ request: RequestKey, _ account: String, in task: Int, at now: Duration) -> (any Sendable)? {
        let key = Key(request: request, account: account)
        if let entry = entries.value(for: key) {
            if now - entry.time < timeToLive { return entry.response }
            entries.removeValue(for: key)
        }
        visits.update(Visit(request: request, task: task), default: Beginning(account: account, removals: removals)) {
            $0 = Beginning(account: account, removals: removals)
        }
        return nil
    }

    /// Stores what a call has brought, if it was begun for this account and nothing has been removed since.
    mutating func store(
        _ response: any Sendable,
        for request: RequestKey,
        _ account: String?,
        in task: Int,
        at now: Duration
    ) {
        let beginning = end(request, in: task)
        guard let account, let beginning, beginning.account == account, beginning.removals == removals else { return }
        let entry = Entry(response: response, time: now)
        entries.update(Key(request: request, account: account), default: entry) { $0 = entry }
    }

    /// A call has ended; nil when it was not seen to begin.
    @discardableResult
    private mutating func end(_ request: RequestKey, in task: Int) -> Beginning? {
        visits.removeValue(for: Visit(request: request, task: task))
    }

    /// A call has failed.
    mutating func fail(_ request: RequestKey, in task: Int) {
        end(request, in: task)
    }

    /// Removes results, and has the calls under way bring none: what they bring may be older than the change.
    mutating func removeAll(where isRemoved: (RequestKey) -> Bool) {
        removals += 1
        entries.removeAll { isRemoved($0.request) }
    }
}
