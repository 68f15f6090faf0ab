import Foundation
import Nautilus

/// The fields of a request that `Vary` names (RFC 9111 §4.1), as the cache saw them and as they went on the wire.
///
/// A later interceptor may have changed a field, for example by setting the user's language. The server chose by
/// the field on the wire, and at the next lookup it is unknown what that will be. Such a response is therefore
/// validated before it is used, and the fields on the wire at that time are compared with the stored ones.
struct VarySelectors: Hashable, Sendable {
    /// One field's value; nil for a field that was missing.
    struct Value: Hashable, Sendable, Codable {
        let seen: String?
        let sent: String?
    }

    /// The longest `Vary` that is read, in bytes: enough for the names of some hundred fields.
    private static let longest = 8_192

    /// The values by field name, in lowercase.
    let values: [String: Value]

    init(_ values: [String: Value]) {
        self.values = values
    }

    /// Creates the values by which `Vary` selects a response; nil for a response that no other request may get.
    ///
    /// A secret cannot be a selector, since it would have to be stored. A `Vary` that is longer than any real one is
    /// not read, since it could be of any size. Only `Authorization` is left to the account, if there is one: without
    /// an account, nothing tells requests that will be authorized from those that will not.
    ///
    /// - Parameters:
    ///   - header: The response's header.
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

    /// Whether a request has the same fields, as far as the cache can see.
    func match(seen request: HttpRequest) -> Bool {
        values.allSatisfy { name, value in request.header.selector(HttpHeader.Name(name)) == value.seen }
    }

    /// Whether a request that went out has the same fields.
    func match(sent request: HttpRequest) -> Bool {
        values.allSatisfy { name, value in request.header.selector(HttpHeader.Name(name)) == value.sent }
    }

    /// Whether both select the same requests, as far as the cache can see.
    func selectSame(as other: VarySelectors) -> Bool {
        values.mapValues(\.seen) == other.values.mapValues(\.seen)
    }
}

extension HttpHeader {
    /// The fields that a response varies by, in lowercase.
    var varyingNames: [Name] {
        (self[.vary] ?? "").split(separator: ",").map { Name($0.trimmingBlanks.lowercased()) }
            .filter { !$0.rawValue.isEmpty }
    }

    /// A field's value as it selects a response: several values in one line, without the blanks around each (RFC 9111
    /// §4.1).
    func selector(_ name: Name) -> String? {
        self[name].map { $0.split(separator: ",").map { $0.trimmingBlanks }.joined(separator: ",") }
    }
}
