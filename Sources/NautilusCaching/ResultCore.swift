import Nautilus

/// The state that a caching hook guards by its lock: the results. Users' values are compared and released under it, as
/// the hook's documentation says.
struct ResultCore: Sendable {
    /// A call, or a sequence of them, that may be answered, or bring results, as it was when it began.
    struct Beginning: Sendable {
        let account: String
        /// The base URL of its service at that time, without the query.
        let environment: String
        /// How often results had been removed by then.
        let removals: Int64
    }

    private struct Key: Hashable, Sendable {
        let request: RequestKey
        let account: String
        let environment: String

        init(_ request: RequestKey, of call: Beginning) {
            (self.request, account, environment) = (request, call.account, call.environment)
        }
    }

    private struct Entry: Sendable {
        let response: any Sendable
        let time: Duration
    }

    private let timeToLive: Duration
    private var entries: RecentlyUsed<Key, Entry>
    /// How often results have been removed.
    private(set) var removals: Int64 = 0

    init(timeToLive: Duration, maxCount: Int) {
        self.timeToLive = timeToLive
        self.entries = RecentlyUsed(limit: maxCount)
    }

    var count: Int { entries.count }

    /// The response to a request; nil when there is none that is still good.
    mutating func find(_ request: RequestKey, _ call: Beginning, at now: Duration) -> (any Sendable)? {
        let key = Key(request, of: call)
        guard let entry = entries.value(for: key) else { return nil }
        if now - entry.time < timeToLive { return entry.response }
        entries.removeValue(for: key)
        return nil
    }

    /// Stores what a call has brought, if nothing has been removed since it began.
    mutating func store(_ response: any Sendable, for request: RequestKey, _ call: Beginning, at now: Duration) {
        guard call.removals == removals else { return }
        let entry = Entry(response: response, time: now)
        entries.update(Key(request, of: call), default: entry) { $0 = entry }
    }

    /// Removes results, and has the calls under way bring none: their results may be older than the change.
    mutating func removeAll(where isRemoved: (RequestKey) -> Bool) {
        removals += 1
        entries.removeAll { isRemoved($0.request) }
    }
}
