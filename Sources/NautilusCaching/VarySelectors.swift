import Nautilus

/// The fields of a request that `Vary` names (RFC 9111 §4.1), as the cache saw them and as they went on the wire.
///
/// An interceptor further in may have changed one: stamped the user's language, say. The server chose by the field on
/// the wire; at the next lookup it is unknown what that will be. So such a response is validated before it is used, and
/// the answer to that compared with the fields that went on the wire then.
struct VarySelectors: Hashable, Sendable {
    /// One field's value; nil for a field that was not there.
    struct Value: Hashable, Sendable, Codable {
        let seen: String?
        let sent: String?
    }

    /// Of how many bytes a `Vary` is read: names of some hundred fields.
    private static let longest = 8_192

    /// By name, in small letters.
    let values: [String: Value]

    init(_ values: [String: Value]) {
        self.values = values
    }

    /// The values by which `Vary` selects a response; nil for a response that no other request may get.
    ///
    /// A secret is no selector, since it would have to be stored. A `Vary` longer than any choice of representations is
    /// not read: it could be of any size. `Authorization` alone is left to the account, where there is one: without an
    /// account, nothing tells requests that will be stamped from those that will not.
    ///
    /// - Parameters:
    ///   - header: The response's.
    ///   - seen: The request as the cache saw it.
    ///   - sent: The request on the wire.
    ///   - partition: The partition that the response belongs to.
    init?(_ header: HttpHeader, seen: HttpRequest, sent: HttpRequest, _ partition: CachePartition) {
        guard (header[.vary]?.utf8.count ?? 0) <= Self.longest else { return nil }
        var values: [String: Value] = [:]
        for name in header.varyingNames where name != .authorization || partition.account == nil {
            guard name.rawValue != "*", !name.isSensitive else { return nil }
            values[name.rawValue] = Value(seen: seen.header.selector(name), sent: sent.header.selector(name))
        }
        self.values = values
    }

    /// Whether a field was changed between the cache and the wire, so that no lookup can tell what it will be.
    var areUnknowable: Bool { values.values.contains { $0.seen != $0.sent } }

    /// Whether the fields of a request are the same, as far as the cache sees them.
    func match(seen request: HttpRequest) -> Bool {
        values.allSatisfy { name, value in request.header.selector(HttpHeader.Name(name)) == value.seen }
    }

    /// Whether the fields of a request that went out are the same.
    func match(sent request: HttpRequest) -> Bool {
        values.allSatisfy { name, value in request.header.selector(HttpHeader.Name(name)) == value.sent }
    }

    /// Whether they select the same requests, as far as the cache sees these.
    func selectSame(as other: VarySelectors) -> Bool {
        values.mapValues(\.seen) == other.values.mapValues(\.seen)
    }
}

extension HttpHeader {
    /// The fields that a response varies by, in small letters.
    var varyingNames: [Name] {
        (self[.vary] ?? "").split(separator: ",").map { Name($0.trimmingBlanks.lowercased()) }
            .filter { !$0.rawValue.isEmpty }
    }

    /// A field's value as it selects a response: several in one line, without the blanks around each (RFC 9111 §4.1).
    func selector(_ name: Name) -> String? {
        self[name].map { $0.split(separator: ",").map { $0.trimmingBlanks }.joined(separator: ",") }
    }
}
