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

// MARK: - Freshness

/// How old a stored response is, and how old it may become (RFC 9111 §4.2), in seconds.
struct Freshness: Hashable, Sendable {
    /// The age of the response (§4.2.3).
    let age: Int64
    /// The age at which the response becomes stale (§4.2.1).
    let lifetime: Int64

    /// - Parameters:
    ///   - stored: The response.
    ///   - now: The time of day, in seconds since 1970.
    ///   - heuristicCap: The longest lifetime for a response that does not name one.
    init(_ stored: StoredResponse, now: Int64, heuristicCap: Int64) {
        let date = stored.date ?? stored.responseTime
        // A clock that was set back does not tell how old the response is, so it counts as too old.
        let residence = now < stored.responseTime ? CacheControl.longest : now.subtracting(stored.responseTime)
        let delay = max(0, stored.responseTime.subtracting(stored.requestTime))
        let apparent = max(0, stored.responseTime.subtracting(date))
        let corrected = stored.ageField + min(CacheControl.longest, delay)
        age = min(CacheControl.longest, max(apparent, corrected)) + min(CacheControl.longest, residence)
        lifetime = Self.lifetime(of: stored, date: date, heuristicCap: heuristicCap)
    }

    /// Whether the response may be served as it is (§4.2).
    var isFresh: Bool { lifetime > age }

    /// For how long the response has been stale; 0 in its first stale second, negative while it is fresh.
    var staleness: Int64 { age - lifetime }

    private static func lifetime(of stored: StoredResponse, date: Int64, heuristicCap: Int64) -> Int64 {
        if let maxAge = stored.control.maxAge { return maxAge }
        // An `Expires` that is not exactly a date, in particular `0`, lies in the past (§5.3).
        if stored.header[.expires] != nil {
            return stored.expires.map { max(0, $0.subtracting(date)) } ?? 0
        }
        // If the server does not say, a tenth of the time for which the resource has not changed (§4.2.2).
        guard stored.allowsHeuristics, let modified = stored.seconds(of: .lastModified) else { return 0 }
        return min(heuristicCap, max(0, date.subtracting(modified)) / 10)
    }
}

extension StoredResponse {
    /// The statuses that may be kept without an explicit lifetime (RFC 9110 §15.1), except those that are never kept
    /// here: parts and redirects.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 404, 405, 410, 414, 501]

    fileprivate var allowsHeuristics: Bool { Self.heuristicStatuses.contains(status) || control.isStorable }

    /// The age on receipt, as reported by caches on the way: the first value counts, unless it is not a number (§5.1).
    fileprivate var ageField: Int64 {
        let first = header[.age]?.split(separator: ",").first
        return CacheControl.seconds(first.map { String($0.trimmingBlanks) }) ?? 0
    }

    /// The date of `Expires`; nil when it has none, or is not exactly in one of HTTP's formats. Unlike other fields, it
    /// restricts its dates: with another zone, or written in another way, it has expired (§4.2, §5.3).
    fileprivate var expires: Int64? {
        let value = header.values(of: .expires).first
        return value.flatMap { HttpDate(exactly: $0.trimmingBlanks, year: .ofSeconds(responseTime))?.secondsSince1970 }
    }

    fileprivate func seconds(of name: HttpHeader.Name) -> Int64? { header.seconds(of: name, now: responseTime) }
}

extension HttpHeader {
    /// The date in a field, in seconds since 1970; nil when it is missing or invalid.
    func seconds(of name: Name, now: Int64) -> Int64? {
        guard let value = values(of: name).first else { return nil }
        return HttpDate(value.trimmingBlanks, year: .ofSeconds(now))?.secondsSince1970
    }
}

extension Int {
    /// The year of a moment, by the Gregorian mean; only two-digit years look at it.
    fileprivate static func ofSeconds(_ seconds: Int64) -> Int { Int(1970 + seconds / 31_556_952) }
}

extension Int64 {
    /// The difference, clamped where it would overflow: dates come from servers, and clocks may be wrong.
    fileprivate func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}
