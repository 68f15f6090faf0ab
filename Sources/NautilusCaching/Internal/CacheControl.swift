import Foundation
import Nautilus

/// The directives of `Cache-Control`, of a request or of a response (RFC 9111 §5.2).
///
/// Reading never fails: a server may send anything. A malformed directive counts as absent or, where a number was
/// meant, as the number that keeps an answer for the shortest time (§4.2.1).
struct CacheControl: Hashable, Sendable {
    /// The limit to which larger numbers are cut (§1.2.2), meaning "for ever".
    static let longest: Int64 = 2_147_483_648

    /// How long the response is fresh, in seconds, or how old an answer the request accepts; nil when not given.
    private(set) var maxAge: Int64?
    /// How stale an answer the request accepts, in seconds; ``longest`` when it accepts any.
    private(set) var maxStale: Int64?
    /// How long the request wants the answer to stay fresh, in seconds.
    private(set) var minFresh: Int64?
    /// How long the response may be served while it is being validated (RFC 5861 §3).
    private(set) var staleWhileRevalidate: Int64?
    /// How long the response may be served when validation fails (RFC 5861 §4).
    private(set) var staleIfError: Int64?
    /// Whether the response must not be served without validation; field names given with the directive make no
    /// difference.
    private(set) var noCache = false
    /// Whether the response must not be stored.
    private(set) var noStore = false
    /// Whether the response must not be served stale.
    private(set) var mustRevalidate = false
    /// Whether only a cache that understands the response's status may store it.
    private(set) var mustUnderstand = false
    /// Whether the response may be stored although its status alone does not permit it: `public`, or `private`, since
    /// this cache is private.
    private(set) var isStorable = false
    /// Whether the request accepts only a stored answer.
    private(set) var onlyIfCached = false

    /// Reads every field of the header.
    ///
    /// `s-maxage` and `proxy-revalidate` are for shared caches, and are ignored.
    init(_ header: HttpHeader) {
        let fields = header.values(of: .cacheControl)
        for field in fields {
            var list = DirectiveList(field)
            while let directive = list.next() { note(directive.name, directive.value) }
        }
        // RFC 9111 §5.4: the field that clients older than `Cache-Control` send.
        if fields.isEmpty, let pragma = header[.pragma], pragma.lowercased() == "no-cache" { noCache = true }
    }

    private mutating func note(_ name: String, _ value: String?) {
        switch name {
        case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(value) ?? 0)
        // Without a value, any staleness is accepted; with a value that is not a number, none is.
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

    /// A number of seconds (§1.2.2), as a token or from a quoted text (§5.2); nil for anything else.
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

/// The directives of one `Cache-Control` field, one after the other (RFC 9111 §5.2): a token, for some followed by `=`
/// and another token or a quoted text.
///
/// A malformed directive is skipped up to the next comma, and every byte is read once.
struct DirectiveList {
    private var field: FieldReader

    init(_ field: String) {
        self.field = FieldReader(field)
    }

    /// The next directive, with its name in lowercase; nil at the end.
    mutating func next() -> (name: String, value: String?)? {
        while !field.isAtEnd {
            field.skip { $0 == UInt8(ascii: ",") || $0.isBlank }
            let name = field.readToken()
            field.skipBlanks()
            let value = field.current == UInt8(ascii: "=") ? readValue() : nil
            // Anything else before the comma is malformed.
            let rest = field.read { $0 != UInt8(ascii: ",") }
            guard !name.isEmpty else { continue }
            // `max-age=1 0` is not a number, and must not be read as one.
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
