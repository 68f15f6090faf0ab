import Foundation

/// A checked base URL: everything a request's own path and query are appended to.
struct BaseUrl: Sendable {
    /// Scheme, authority and path, without a slash at the end.
    private let prefix: String
    /// What the base brings along, without `?`; empty for none.
    private let query: String
    let origin: HttpOrigin

    /// Reads a base URL.
    ///
    /// - Parameter isSecure: Whether a missing scheme means `https`; a scheme that is there wins.
    /// - Throws: ``InvalidRequest/baseUrl(reason:)``; no reason repeats the URL, which may hold a password.
    init(_ convertible: any UrlConvertible, isSecure: Bool) throws(InvalidRequest) {
        let text = convertible.urlString
        let (scheme, rest) = Self.splitScheme(of: text, isSecure: isSecure)
        guard scheme == "http" || scheme == "https" else { throw .baseUrl(reason: "only http and https are spoken") }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x5C }) else {
            throw .baseUrl(reason: "it contains a blank, a control character or a backslash")
        }
        guard !rest.contains("#") else { throw .baseUrl(reason: "a fragment is never sent") }

        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty else { throw .baseUrl(reason: "it names no host") }
        guard !authority.contains("@") else {
            throw .baseUrl(reason: "credentials do not belong into a URL; put them into the header")
        }

        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].hasSuffix("/") ? parts[0].dropLast() : parts[0]
        self.prefix = "\(scheme)://\(path)"
        self.query = parts.count > 1 ? String(parts[1]) : ""
        guard let url = URL(string: prefix), let origin = HttpOrigin(url), (1...65_535).contains(origin.port) else {
            throw .baseUrl(reason: "its host, port or path is malformed")
        }
        self.origin = origin
    }

    /// The URL of a request below this base.
    ///
    /// - Throws: ``InvalidRequest``, for a route with an empty component.
    func appending(_ route: HttpRoute, query own: HttpQuery) throws(InvalidRequest) -> URL {
        let query = [self.query, own.encoded].filter { !$0.isEmpty }.joined(separator: "&")
        let text = try prefix + route.encoded() + (query.isEmpty ? "" : "?" + query)
        guard let url = URL(string: text) else { throw .baseUrl(reason: "its path or query is malformed") }
        return url
    }

    private static func splitScheme(of text: String, isSecure: Bool) -> (scheme: String, rest: Substring) {
        guard let separator = text.range(of: "://"), !text[..<separator.lowerBound].contains("/") else {
            return (isSecure ? "https" : "http", text[...])
        }
        return (text[..<separator.lowerBound].lowercased(), text[separator.upperBound...])
    }
}
