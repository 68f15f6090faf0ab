import Foundation
import Nautilus

/// The directives of `Cache-Control`, of a request or of a response (RFC 9111 §5.2).
///
/// Total: a server may send anything, and a malformed directive counts as absent, or, where a number was meant, as the
/// number that keeps an answer for the shortest time (§4.2.1).
struct CacheControl: Hashable, Sendable {
    /// The number to which larger ones are cut (§1.2.2), and which means "for ever".
    static let longest: Int64 = 2_147_483_648

    /// How long it is fresh in seconds, or how old an answer the request takes; nil when it is not said.
    private(set) var maxAge: Int64?
    /// How long past that time the request takes it; ``longest`` when any.
    private(set) var maxStale: Int64?
    /// How long the request wants it to stay fresh.
    private(set) var minFresh: Int64?
    /// How long it may be served while it is being validated (RFC 5861 §3).
    private(set) var staleWhileRevalidate: Int64?
    /// How long it may be served when validating fails (RFC 5861 §4).
    private(set) var staleIfError: Int64?
    /// Whether it must not be served before it has been validated; field names that go with it make no difference.
    private(set) var noCache = false
    /// Whether it must not be stored.
    private(set) var noStore = false
    /// Whether it must not be served stale.
    private(set) var mustRevalidate = false
    /// Whether only a cache that understands its status may store it.
    private(set) var mustUnderstand = false
    /// Whether it may be stored although its status does not say so: `public`, or `private`, since this cache is.
    private(set) var isStorable = false
    /// Whether the request wants nothing that is not stored.
    private(set) var onlyIfCached = false

    /// Reads every field of the header.
    ///
    /// `s-maxage` and `proxy-revalidate` are for caches that many share, and are not looked at.
    init(_ header: HttpHeader) {
        let fields = header.values(of: .cacheControl)
        for field in fields {
            var list = DirectiveList(field)
            while let directive = list.next() { note(directive.name, directive.value) }
        }
        // RFC 9111 §5.4: the field of clients older than `Cache-Control`.
        if fields.isEmpty, let pragma = header[.pragma], pragma.lowercased() == "no-cache" { noCache = true }
    }

    private mutating func note(_ name: String, _ value: String?) {
        switch name {
        case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(value) ?? 0)
        // Without a value, however stale it is; with one that is no number, not at all.
        case "max-stale": maxStale = min(maxStale ?? .max, value == nil ? Self.longest : Self.seconds(value) ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(value) ?? Self.longest)
        case "stale-while-revalidate":
            staleWhileRevalidate = min(staleWhileRevalidate ?? .max, Self.seconds(value) ?? 0)
        case "stale-if-error": staleIfError = min(staleIfError ?? .max, Self.seconds(value) ?? 0)
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public", "private": isStorable = true
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// A number of seconds (§1.2.2), also in quotes (§5.2); nil for anything else.
    static func seconds(_ text: String?) -> Int64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return min(Int64(text) ?? longest, longest)
    }
}

extension HttpHeader.Name {
    /// How old a cache's answer is (RFC 9111 §5.1).
    static let age = HttpHeader.Name("Age")
    static let cacheControl = HttpHeader.Name("Cache-Control")
    static let contentLocation = HttpHeader.Name("Content-Location")
    static let expires = HttpHeader.Name("Expires")
    static let ifModifiedSince = HttpHeader.Name("If-Modified-Since")
    static let lastModified = HttpHeader.Name("Last-Modified")
    static let pragma = HttpHeader.Name("Pragma")
    static let vary = HttpHeader.Name("Vary")
}

/// The directives of one `Cache-Control` field, one after the other (RFC 9111 §5.2): a token, and for some `=` with
/// another token or a quoted text.
///
/// A malformed directive is skipped up to the next comma, and every byte is looked at once.
struct DirectiveList {
    private var field: FieldReader

    init(_ field: String) {
        self.field = FieldReader(field)
    }

    /// The next directive, its name in small letters; nil at the end.
    mutating func next() -> (name: String, value: String?)? {
        while !field.isAtEnd {
            field.skip { $0 == UInt8(ascii: ",") || $0.isBlank }
            let name = field.readToken()
            field.skipBlanks()
            let value = field.current == UInt8(ascii: "=") ? readValue() : nil
            // Up to the comma stands what belongs to nothing.
            let rest = field.read { $0 != UInt8(ascii: ",") }
            guard !name.isEmpty else { continue }
            // `max-age=1 0` is no number, and must not be read as one.
            return (name.lowercased(), rest.utf8.allSatisfy(\.isBlank) ? value : value.map { $0 + rest } ?? rest)
        }
        return nil
    }

    private mutating func readValue() -> String {
        field.skip()
        field.skipBlanks()
        return field.current == UInt8(ascii: "\"") ? field.readQuoted().text : field.readToken()
    }
}

/// How old a stored response is, and how old it may become (RFC 9111 §4.2), in seconds.
struct Freshness: Hashable, Sendable {
    /// Its age (§4.2.3).
    let age: Int64
    /// The age from which on it is stale (§4.2.1).
    let lifetime: Int64

    /// - Parameters:
    ///   - stored: The response.
    ///   - now: In seconds since 1970.
    ///   - heuristicCap: The longest lifetime for a response that does not name one.
    init(_ stored: StoredResponse, now: Int64, heuristicCap: Int64) {
        let date = stored.date ?? stored.responseTime
        // A clock that was set back tells nothing of how old it is: too old, then.
        let residence = now < stored.responseTime ? CacheControl.longest : now.subtracting(stored.responseTime)
        let delay = max(0, stored.responseTime.subtracting(stored.requestTime))
        let apparent = max(0, stored.responseTime.subtracting(date))
        let corrected = stored.ageField + min(CacheControl.longest, delay)
        age = min(CacheControl.longest, max(apparent, corrected)) + min(CacheControl.longest, residence)
        lifetime = Self.lifetime(of: stored, date: date, heuristicCap: heuristicCap)
    }

    /// Whether it may be served as it is (§4.2).
    var isFresh: Bool { lifetime > age }

    /// For how long it has been stale; 0 in the second from which on it is, and negative while it is fresh.
    var staleness: Int64 { age - lifetime }

    private static func lifetime(of stored: StoredResponse, date: Int64, heuristicCap: Int64) -> Int64 {
        if let maxAge = stored.control.maxAge { return maxAge }
        // An `Expires` that is no date, `0` above all, lies in the past (§5.3).
        if stored.header[.expires] != nil {
            return stored.seconds(of: .expires).map { max(0, $0.subtracting(date)) } ?? 0
        }
        // Without a word of the server, a tenth of the time for which it has not changed (§4.2.2).
        guard stored.allowsHeuristics, let modified = stored.seconds(of: .lastModified) else { return 0 }
        return min(heuristicCap, max(0, date.subtracting(modified)) / 10)
    }
}

extension StoredResponse {
    /// Statuses that may be kept although nothing says for how long (RFC 9110 §15.1), without those that never are
    /// here: parts and redirects.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 404, 405, 410, 414, 501]

    fileprivate var allowsHeuristics: Bool { Self.heuristicStatuses.contains(status) || control.isStorable }

    /// Its age on receipt, as caches on the way say: the first value counts, and what is no number does not (§5.1).
    fileprivate var ageField: Int64 {
        let first = header[.age]?.split(separator: ",").first
        return CacheControl.seconds(first.map { String($0.trimmingBlanks) }) ?? 0
    }

    fileprivate func seconds(of name: HttpHeader.Name) -> Int64? { header.seconds(of: name, now: responseTime) }
}

extension HttpHeader {
    /// A date, in seconds since 1970; nil without one, and for an invalid one.
    func seconds(of name: Name, now: Int64) -> Int64? {
        guard let value = values(of: name).first else { return nil }
        let year = Int(1970 + now / 31_556_952)  // the Gregorian mean; only two-digit years look at it
        return HttpDate(value.trimmingBlanks, year: year)?.secondsSince1970
    }
}

extension Int64 {
    /// The difference, cut where it would overflow: dates come from servers, and clocks may not be set.
    fileprivate func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}
