import Nautilus

/// A hook that remembers the results of requests for a while, and answers the same requests from memory. The server has
/// no say in how long results are good.
/// ```swift
/// struct NotesService { let cache = CachingServiceHook(for: .seconds(300), account: { "" }) }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var hook: any ServiceHook { cache }
/// }
/// ```
/// Keep the hook in a stored property, or it remembers nothing. The key is the request's type and value: only
/// `Hashable` GETs and HEADs are remembered. Services at one base URL whose `coders` differ need a hook each. `==`,
/// `hash(into:)` and `deinit` of requests and results run under the hook's lock, and must not call the hook.
public final class CachingServiceHook: ServiceHook {
    private let account: @Sendable () -> String?
    private let stopwatch: Stopwatch
    private let results: Locked<ResultTable>
    private typealias Beginning = ResultTable.Beginning

    /// Creates a hook that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - timeToLive: How long a result is good. No default, since only you know how outdated an answer may be for
    ///     your users.
    ///   - maxCount: How many results are remembered; the least recently used result goes first; less than 1 counts as
    ///     1. Default: 100, a few screens' worth, since the size of results is not known here.
    ///   - account: Returns the account of the results, which are given to no other. While it returns nil, nobody is
    ///     signed in, and nothing is remembered or answered. No default: a service whose answers are the same for all
    ///     users says so with an account that never changes. A call belongs to the account that is returned when the
    ///     call is bound. The closure is asked again before a call is answered and when it has succeeded; if the account
    ///     has changed by then, the call is neither answered nor remembered. The closure must answer at once.
    ///   - clock: The clock that measures time. Default: `ContinuousClock`, since the server's data may change while
    ///     the device sleeps.
    public init(
        for timeToLive: Duration,
        maxCount: Int = 100,
        account: @escaping @Sendable () -> String?,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.account = account
        self.stopwatch = Stopwatch(clock)
        self.results = Locked(ResultTable(timeToLive: timeToLive.clampedToCentury, maxCount: maxCount))
    }

    /// How many results are remembered, outdated ones included.
    public var count: Int { results.withLock { $0.count } }

    /// Forgets the result of a request, for all accounts. Results of calls under way are not remembered, since they may
    /// be older than the change.
    public func remove<R: Request & Hashable>(_ request: R) {
        let key = RequestKey(value: request)
        results.withLock { $0.removeAll { $0 == key } }
    }

    /// Forgets the results of all requests of a type, for all accounts. Calls under way are treated as in
    /// ``remove(_:)``.
    public func removeAll<R: Request & Hashable>(of type: R.Type) {
        results.withLock { $0.removeAll { $0.value is R } }
    }

    /// Forgets everything; call it when the user signs out. Calls under way are treated as in ``remove(_:)``.
    public func removeAll() {
        results.withLock { $0.removeAll { _ in true } }
    }

    /// The hook of one call, which knows the call's account; it does nothing if there is none.
    public func bound<R: Request>(to request: R, in environment: String, isAnonymous: Bool) -> any ServiceHook {
        // An answer to an anonymous call is not for users, nor vice versa; an empty name does not distinguish users.
        guard let key = RequestKey(request), let account = account(), !isAnonymous || account.isEmpty else {
            return NilServiceHook()
        }
        let beginning = Beginning(
            account: account,
            environment: environment,
            removals: results.withLock { $0.removals }
        )
        return BoundHook(cache: self, key: key, beginning: beginning)
    }

    /// The hook of one call.
    private struct BoundHook: ServiceHook {
        let cache: CachingServiceHook
        let key: RequestKey
        let beginning: Beginning

        /// Answers with a result that is still good.
        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            guard isCurrent else { return nil }
            let now = cache.stopwatch.elapsed
            return cache.results.withLock { $0.find(key, beginning, at: now) } as? HttpResponse<R.Result>
        }

        /// Remembers a result, unless the account has changed since the call began, or the result was removed meanwhile.
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
            guard isCurrent else { return }
            let now = cache.stopwatch.elapsed
            var response = response
            // The trace belongs to the call that fetched the result.
            response.trace = CallTrace()
            cache.results.withLock { [response] in $0.store(response, for: key, beginning, at: now) }
        }

        private var isCurrent: Bool { cache.account() == beginning.account }
    }
}

extension CachingServiceHook: Redacted {
    /// The number of results, and nothing of their content.
    public var description: String { "CachingServiceHook with \(count) results" }
}

/// The state that a caching hook guards with its lock: the results. The app's own values are compared and released
/// under the lock, as the hook's documentation says.
struct ResultTable: Sendable {
    /// The state when a call was bound; it decides whether the call is answered and its result kept.
    struct Beginning: Sendable {
        let account: String
        /// The base URL of the service at that time, without the query.
        let environment: String
        /// How often results had been removed by that time.
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

    /// The response to a request; nil when no good one is remembered.
    mutating func find(_ request: RequestKey, _ call: Beginning, at now: Duration) -> (any Sendable)? {
        let key = Key(request, of: call)
        guard let entry = entries.value(for: key) else { return nil }
        if now - entry.time < timeToLive { return entry.response }
        entries.removeValue(for: key)
        return nil
    }

    /// Stores the result of a call, if nothing has been removed since the call began.
    mutating func store(_ response: any Sendable, for request: RequestKey, _ call: Beginning, at now: Duration) {
        guard call.removals == removals else { return }
        let entry = Entry(response: response, time: now)
        entries.update(Key(request, of: call), default: entry) { $0 = entry }
    }

    /// Removes results, and discards those of calls under way, which may be older than the change.
    mutating func removeAll(where isRemoved: (RequestKey) -> Bool) {
        removals += 1
        entries.removeAll { isRemoved($0.request) }
    }
}

/// A request's type and value, as a key.
struct RequestKey: Hashable, Sendable {
    let value: any Hashable & Request

    init(value: some Hashable & Request) {
        self.value = value
    }

    /// Creates the key of a request; nil if the request is not `Hashable`, may change something, or streams its
    /// response.
    init?(_ request: some Request) {
        guard request.method == .get || request.method == .head, !request.streamsResponse else { return nil }
        guard let value = request as? any Hashable & Request else { return nil }
        self.value = value
    }

    static func == (left: RequestKey, right: RequestKey) -> Bool {
        isEqual(left.value, right.value)
    }

    private static func isEqual<Value: Hashable>(_ left: Value, _ right: any Hashable) -> Bool {
        (right as? Value) == left
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: value)))
        value.hash(into: &hasher)
    }
}
