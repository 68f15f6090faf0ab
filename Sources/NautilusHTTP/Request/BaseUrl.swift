import Foundation

/// A checked base URL, to which a request's own path and query are appended.
package final class BaseUrl: Sendable {
    /// Scheme and authority.
    private let root: String
    /// The path as written, including a trailing slash; empty for none.
    private let path: String
    /// The part that a route is appended to: root and path, without trailing slashes.
    private let stem: String
    /// The query of the base, without `?`; empty for none.
    private let query: String
    /// Scheme, host and port.
    package let origin: HttpOrigin
    /// Origin and path, equal for all spellings of the same place. The query is left out, since it may be a signature.
    package let place: String

    /// Reads a base URL.
    ///
    /// - Parameter isSecure: Whether a missing scheme means `https`; a scheme in the URL overrides it.
    /// - Throws: ``HttpRequest/Invalid/baseUrl(reason:)``; no reason repeats the URL, which may hold a password.
    package init(_ convertible: any UrlConvertible, isSecure: Bool) throws(HttpRequest.Invalid) {
        let text = convertible.urlString
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw .baseUrl(reason: "it contains a space, a control character or a backslash")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .baseUrl(reason: "a fragment is never sent") }
        try Self.checkSlashes(of: text)
        let (scheme, rest) = Self.splitScheme(of: text, isSecure: isSecure)
        guard scheme == "http" || scheme == "https" else { throw .baseUrl(reason: "only http and https are supported") }

        // By bytes, not characters: a slash with a combining accent is one character, but still ends the host.
        let bytes = rest.utf8
        let authorityEnd = bytes.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let pathEnd = bytes[authorityEnd...].firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        self.root = "\(scheme)://\(try HttpAuthority(rest[..<authorityEnd]))"
        self.path = try Self.encode(rest[authorityEnd..<pathEnd])
        self.stem = root + path.withoutTrailingSlashes
        self.query = try Self.encode(rest[pathEnd...].dropFirst())
        guard let url = URL(string: root), let origin = HttpOrigin(url) else {
            throw .baseUrl(reason: "its host is malformed")
        }
        self.origin = origin
        self.place = "\(origin)\(path.withoutTrailingSlashes)"
    }

    /// The URL of a request below this base. Without a route, the path of the base stays as written.
    ///
    /// - Throws: ``HttpRequest/Invalid``, for a route with an empty component, and for a query that cannot be written.
    package func appending(_ route: HttpRoute, query own: HttpQuery) throws(HttpRequest.Invalid) -> URL {
        let below = try route.encoded()
        var text = below.isEmpty ? root + path : stem + below
        let own = try own.checked()
        if !query.isEmpty || !own.isEmpty {
            text += "?" + query + (query.isEmpty || own.isEmpty ? "" : "&") + own
        }
        guard let url = URL(string: text) else { throw .baseUrl(reason: "its path or query is malformed") }
        return url
    }

    /// Whether another base has the same origin and path.
    package func isSamePlace(as other: BaseUrl) -> Bool {
        place == other.place
    }

    /// Refuses a scheme that is not followed by a colon and two slashes. Otherwise it would be read as a host, and what
    /// follows as its port or its path.
    private static func checkSlashes(of text: String) throws(HttpRequest.Invalid) {
        let end = text.utf8.firstIndex { ":/?".utf8.contains($0) } ?? text.endIndex
        let scheme = text[..<end].lowercased()
        guard ["http", "https", "ws", "wss"].contains(scheme), end != text.endIndex else { return }
        let rest = text.utf8[end...]
        let fault: String
        if rest.starts(with: "//".utf8) {
            fault = "a colon is missing"
        } else if rest.starts(with: ":/".utf8), !rest.starts(with: "://".utf8) {
            fault = "a slash is missing"
        } else if rest.starts(with: ":".utf8), !rest.starts(with: "://".utf8), rest.dropFirst().first?.isDigit != true {
            fault = "two slashes are missing"
        } else {
            return
        }
        throw .baseUrl(reason: "\(fault) after its scheme; write \(scheme)://")
    }

    private static func splitScheme(of text: String, isSecure: Bool) -> (scheme: String, rest: Substring) {
        let end = text.utf8.firstIndex { ":/?".utf8.contains($0) } ?? text.endIndex
        guard text.utf8[end...].starts(with: "://".utf8) else { return (isSecure ? "https" : "http", text[...]) }
        return (text[..<end].lowercased(), text[text.utf8.index(end, offsetBy: 3)...])
    }

    /// A path or a query with characters that do not belong in a URL percent-encoded, and encoded ones left as they
    /// are.
    ///
    /// Foundation would respond to one such character by encoding every `%` of the URL a second time.
    private static func encode(_ text: Substring) throws(HttpRequest.Invalid) -> String {
        let pieces = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        guard pieces.dropFirst().allSatisfy({ $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(\.isHexDigit) }) else {
            throw .baseUrl(reason: "a percent sign in it does not begin an encoded byte")
        }
        return String.percentEncoding(text.utf8) { $0.isUrlCharacter }
    }
}

extension String {
    fileprivate var withoutTrailingSlashes: Substring {
        self[..<(utf8.lastIndex { $0 != UInt8(ascii: "/") }.map { utf8.index(after: $0) } ?? startIndex)]
    }
}

extension String {
    /// This URL with the scheme of HTTP in place of that of web sockets, whose opening request is one of HTTP (RFC 6455
    /// §1.3).
    package var asHttpUrl: String {
        guard let end = range(of: "://") else { return self }
        return switch self[..<end.lowerBound].lowercased() {
        case "wss": "https" + self[end.lowerBound...]
        case "ws": "http" + self[end.lowerBound...]
        default: self
        }
    }
}

/// The base URLs that this process calls, each checked once instead of once for every attempt.
///
/// Checking depends on nothing but the text, so an entry can be forgotten but never be wrong.
package final class BaseUrlMemo: Sendable {
    package static let shared = BaseUrlMemo()

    /// More than any app has services; the limit keeps an app that makes a new base for every call from filling the
    /// memory.
    static let limit = 32

    private struct Key: Hashable {
        let text: String
        let isSecure: Bool

        /// Compares bytes: texts that Unicode calls equivalent differ on the wire.
        static func == (left: Key, right: Key) -> Bool {
            left.isSecure == right.isSecure && left.text.hasSameBytes(as: right.text)
        }
    }

    private let known = Locked<[Key: BaseUrl]>([:])

    /// The checked base.
    ///
    /// - Throws: ``HttpRequest/Invalid/baseUrl(reason:)``, as ``BaseUrl/init(_:isSecure:)`` does; failures are not
    ///   kept.
    package func base(_ convertible: any UrlConvertible, isSecure: Bool) throws(HttpRequest.Invalid) -> BaseUrl {
        let key = Key(text: convertible.urlString, isSecure: isSecure)
        if let base = known.withLock({ $0[key] }) { return base }
        let base = try BaseUrl(key.text, isSecure: isSecure)
        known.withLock { known in
            if known.count >= Self.limit { known = [:] }
            known[key] = base
        }
        return base
    }

    /// How many bases are known now.
    var count: Int { known.withLock { $0.count } }
}

/// Something that names the base of an API: `"api.example.com"`, `"http://localhost:8080/v1"`, a `URL`.
public protocol UrlConvertible: Sendable {
    /// The base as text, with or without a scheme; checked when a request is built.
    var urlString: String { get }
}

extension String: UrlConvertible {
    /// The string itself.
    public var urlString: String { self }
}

extension URL: UrlConvertible {
    /// The absolute URL.
    public var urlString: String { absoluteString }
}
