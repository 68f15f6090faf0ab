import Nautilus

/// A cache's decision about a request: a pure function of the stored response, the request and the time.
enum CacheDecision: Hashable, Sendable {
    /// Answer with the stored response, whose age is in seconds.
    case serve(age: Int64)
    /// Answer with the stored response, and meanwhile check whether it has changed.
    case serveWhileRevalidating(age: Int64)
    /// Ask the server whether the stored response has changed.
    case validate
    /// Ask the server as if nothing were stored.
    case forward
    /// Do not ask the server, since the request wants only a stored response.
    case unavailable

    /// - Parameters:
    ///   - stored: The stored response to the request; nil when there is none.
    ///   - freshness: How fresh the stored response is.
    ///   - request: The request's `Cache-Control`.
    init(stored: StoredResponse?, freshness: Freshness?, request: CacheControl) {
        guard let stored, let freshness else {
            // §5.2.1.7: nothing is stored, and the server must not be asked.
            self = request.onlyIfCached ? .unavailable : .forward
            return
        }
        switch Self.use(of: stored, freshness, request) {
        case .asItIs: self = .serve(age: freshness.age)
        case .whileRevalidating where request.onlyIfCached: self = .serve(age: freshness.age)
        case .whileRevalidating: self = .serveWhileRevalidating(age: freshness.age)
        case .notAsItIs where request.onlyIfCached: self = .unavailable
        case .notAsItIs: self = stored.hasValidator ? .validate : .forward
        }
    }

    private enum Use { case asItIs, whileRevalidating, notAsItIs }

    private static func use(of stored: StoredResponse, _ freshness: Freshness, _ request: CacheControl) -> Use {
        // §5.2.1.4, §5.2.2.4: one side wants the server asked, or it is unknown whether this is the right response.
        if request.noCache || stored.mustBeValidated { return .notAsItIs }
        // §5.2.1.5 is about storing; but a request that forbids storing its answer does not want a stored one.
        if request.noStore { return .notAsItIs }
        // §5.2.1.1: too old for this request, however fresh it is.
        if let maxAge = request.maxAge, freshness.age > maxAge, request.maxStale == nil { return .notAsItIs }
        // §5.2.1.3: not fresh for long enough.
        if let minFresh = request.minFresh, freshness.lifetime - freshness.age < minFresh { return .notAsItIs }
        if isFresh(freshness, for: request) { return .asItIs }

        // §4.2.4, §5.2.2.2: from here on, the response would be served stale.
        if stored.control.mustRevalidate { return .notAsItIs }
        // §5.2.1.2: as stale as the request accepts, counted from whichever limit is reached first.
        let limit = min(freshness.lifetime, request.maxAge ?? .max)
        if let maxStale = request.maxStale {
            return freshness.age - limit <= maxStale ? .asItIs : .notAsItIs
        }
        // RFC 5861 §3: as stale as the server allows while the response is being validated.
        if let window = stored.control.staleWhileRevalidate, freshness.staleness < window { return .whileRevalidating }
        return .notAsItIs
    }

    /// Whether the response is fresh (§4.2), and as fresh as the request wants it (§5.2.1.1, §5.2.1.3).
    private static func isFresh(_ freshness: Freshness, for request: CacheControl) -> Bool {
        freshness.isFresh && freshness.age <= request.maxAge ?? .max
            && freshness.lifetime - freshness.age >= request.minFresh ?? 0
    }

    /// Whether a stored response may stand in for an answer that failed (RFC 5861 §4).
    ///
    /// - Parameters:
    ///   - stored: The response.
    ///   - freshness: How fresh it is.
    ///   - request: The request's `Cache-Control`, which may allow it on its own.
    ///   - standard: For how long it is allowed when neither side says so, in seconds.
    static func allowsStaleIfError(
        _ stored: StoredResponse,
        _ freshness: Freshness,
        request: CacheControl,
        standard: Int64
    ) -> Bool {
        if request.noCache || request.noStore || stored.mustBeValidated { return false }
        // A stored error is no better than a new one.
        if stored.status >= 500 { return false }
        // It would have been served even without the error.
        if isFresh(freshness, for: request) { return true }
        // §5.2.2.2: a failing server is no reason to serve it stale.
        if stored.control.mustRevalidate, !freshness.isFresh { return false }
        // If neither side allows it, the request does not want even a fresh response.
        let window = request.staleIfError ?? stored.control.staleIfError ?? standard
        guard window > 0 else { return false }
        return freshness.staleness < window
    }
}

/// A mark on the call that asks the server again about a response that has just been served stale.
final class CacheRevalidation: Sendable {
    @TaskLocal private static var entered: CacheRevalidation?

    let partition: CachePartition
    private let cache: ObjectIdentifier
    private let target: CacheTarget
    private let isOver = Locked(false)

    init(_ question: CacheQuestion, in cache: HttpCache) {
        (self.cache, target, partition) = (ObjectIdentifier(cache), question.target, question.partition)
    }

    /// Makes the call, with this mark.
    func run(_ call: () async -> Void) async {
        // Tasks that the call leaves behind make ordinary requests.
        defer { isOver.withLock { $0 = true } }
        await Self.$entered.withValue(self, operation: call)
    }

    /// The mark of the current task if it has to ask the server for `target`, whatever `cache` has stored; nil in any
    /// other call.
    static func current(for target: CacheTarget, in cache: HttpCache) -> CacheRevalidation? {
        guard let mark = entered, mark.cache == ObjectIdentifier(cache), mark.target == target,
            !mark.isOver.withLock({ $0 })
        else { return nil }
        return mark
    }
}
