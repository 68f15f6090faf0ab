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
    static let eTag = HttpHeader.Name("ETag")
    static let expires = HttpHeader.Name("Expires")
    static let ifModifiedSince = HttpHeader.Name("If-Modified-Since")
    static let ifNoneMatch = HttpHeader.Name("If-None-Match")
    static let lastModified = HttpHeader.Name("Last-Modified")
    static let pragma = HttpHeader.Name("Pragma")
    static let vary = HttpHeader.Name("Vary")
}
