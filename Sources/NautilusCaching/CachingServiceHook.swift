import Nautilus

/// Remembers the results of requests for a while, and answers the same requests from memory.
///
/// ```swift
/// struct NotesService: HttpService {
///     let cache = CachingServiceHook(for: .seconds(300), account: { "" })
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var hook: any ServiceHook { cache }
/// }
/// ```
/// It remembers the decoded result, so that an answer costs nothing but a look into a dictionary: nothing is built or
/// decoded. The server is not asked how long that may be; an ``HttpCache`` heeds what servers say.
///
/// Requests are told apart by their type and value, so only those that are `Hashable` are remembered, and only GET and
/// HEAD, which change nothing. Anything else that decides about the answer, such as a header of the service that the
/// user can change, is not seen: call ``removeAll()`` then. Services at one base URL whose `coders` differ need a hook each. And
/// when a call has changed something, ``remove(_:)`` the requests that showed it before.
///
/// Requests are compared and hashed, and results that are replaced or removed are released, while the hook is locked:
/// `==`, `hash(into:)` and `deinit` of their types must not call the hook, or they wait for themselves.
///
/// Calls that miss at the same time are all sent; ``RequestCoalescing`` makes one exchange of them. Keep the hook in a
/// stored property: one that is made anew in `hook` remembers nothing.
public final class CachingServiceHook: ServiceHook {
    private let account: @Sendable () -> String?
    private let stopwatch: Stopwatch
    private let core: Locked<ResultCore>
    private typealias Beginning = ResultCore.Beginning

    /// Creates a hook that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - timeToLive: How long a result is good. No default: it is how outdated an answer may be for your users.
    ///   - maxCount: How many results are remembered; the one that was not used for longest goes first; less than 1
    ///     counts as 1. Default: 100, a few screens' worth: their size is not known here.
    ///   - account: The account of the results, which are given to no other. Nil while nobody is signed in, and then
    ///     nothing is remembered or answered. No default: a service whose answers are the same for all users says so by
    ///     an account that is always the same. A call belongs to the account that is named when it begins, before its
    ///     retrier is made; it is asked again before a call is answered and when it has succeeded, and one that has
    ///     changed leaves the call without either. It must answer at once.
    ///   - clock: The clock that measures time. Default: `ContinuousClock`, since the server's data go on changing
    ///     while the device sleeps.
    public init(
        for timeToLive: Duration,
        maxCount: Int = 100,
        account: @escaping @Sendable () -> String?,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.account = account
        self.stopwatch = Stopwatch(clock)
        self.core = Locked(ResultCore(timeToLive: timeToLive.clampedToCentury, maxCount: maxCount))
    }

    /// How many results are remembered, outdated ones included.
    public var count: Int { core.withLock { $0.count } }

    /// Forgets the result of a request, for all accounts. Results of calls under way are not remembered, since they may be
    /// older than the change.
    public func remove<R: Request & Hashable>(_ request: R) {
        let key = RequestKey(value: request)
        core.withLock { $0.removeAll { $0 == key } }
    }

    /// Forgets the results of all requests of a type, for all accounts; calls under way as in ``remove(_:)``.
    public func removeAll<R: Request & Hashable>(of type: R.Type) {
        core.withLock { $0.removeAll { $0.value is R } }
    }

    /// Forgets everything: call it when the user signs out. Calls under way as in ``remove(_:)``.
    public func removeAll() {
        core.withLock { $0.removeAll { _ in true } }
    }

    /// The hook, which has a memory.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Notes the account of a call.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        // A guest's answer is no user's, nor the other way round; an empty name tells no users apart.
        guard let account = account(), !facts.isSignedOut || account.isEmpty else { return }
        let removals = core.withLock { $0.removals }
        facts.note(Beginning(account: account, environment: facts.environment, removals: removals), by: self)
    }

    /// Answers with a result that is still good.
    public func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        guard let key = RequestKey(request), let beginning else { return nil }
        let now = stopwatch.elapsed
        return core.withLock { $0.find(key, beginning, at: now) } as? HttpResponse<R.Result>
    }

    /// Remembers a result, unless the account has changed since the call began, or the result was removed meanwhile.
    public func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
        guard let key = RequestKey(request), let beginning else { return }
        let now = stopwatch.elapsed
        var response = response
        // The trace belongs to the call that has fetched it.
        response.trace = CallTrace()
        core.withLock { [response] in $0.store(response, for: key, beginning, at: now) }
    }

    /// The call's beginning; nil when it has no account, or is not known here, or when the account has changed since.
    private var beginning: Beginning? {
        guard let beginning = CallFacts.current?.fact(notedBy: self) as? Beginning, account() == beginning.account
        else {
            return nil
        }
        return beginning
    }
}

extension CachingServiceHook: Redacted {
    /// The number of results, and nothing of their content.
    public var description: String { "CachingServiceHook with \(count) results" }
}

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

/// A request's type and value, as a key.
struct RequestKey: Hashable, Sendable {
    let value: any Hashable & Request

    init(value: some Hashable & Request) {
        self.value = value
    }

    /// The key of a request; nil for one that is not `Hashable`, may change something, or is read while it comes.
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
