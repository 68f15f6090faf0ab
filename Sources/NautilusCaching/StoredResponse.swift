import Foundation
import Nautilus

/// A response as a cache keeps it, with the values that its age is computed from.
struct StoredResponse: Hashable, Sendable {
    let status: Int
    private(set) var header: HttpHeader
    let body: Data
    /// Tells the body from all others, also where the header has been renewed since it came.
    let bodyID: String
    /// The fields of the request that `Vary` names, as they were.
    private(set) var selectors: VarySelectors
    /// When the request was sent and the answer received, in seconds since 1970.
    private(set) var requestTime: Int64
    private(set) var responseTime: Int64
    /// The header's `Cache-Control`, read once, since every hit asks for it.
    private(set) var control: CacheControl
    /// When the server made it, in seconds since 1970; nil where that is not said, and its receipt counts (RFC 9110
    /// §6.6.1).
    private(set) var date: Int64?

    init(
        status: Int,
        header: HttpHeader,
        body: Data,
        bodyID: String = String(UInt64.random(in: 0...UInt64.max), radix: 16),
        selectors: VarySelectors,
        requestTime: Int64,
        responseTime: Int64
    ) {
        self.status = status
        self.header = header.storable
        self.body = body
        self.bodyID = bodyID
        self.selectors = selectors
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.control = CacheControl(header)
        self.date = header.seconds(of: .date, now: responseTime)
    }

    /// The response to a request of `partition`; nil when it must not be used again, as a `Vary` that names `*` or a
    /// secret has it.
    ///
    /// - Parameters:
    ///   - response: The response that came.
    ///   - seen: The request as the cache saw it.
    ///   - sent: The request on the wire.
    ///   - partition: The partition that it belongs to.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the answer was received.
    init?(
        _ response: HttpResponse<Data>,
        to seen: HttpRequest,
        sent: HttpRequest,
        of partition: CachePartition,
        requestTime: Int64,
        responseTime: Int64
    ) {
        guard let selectors = VarySelectors(response.header, seen: seen, sent: sent, partition) else { return nil }
        self.init(
            status: response.status,
            header: response.header,
            body: response.body,
            selectors: selectors,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    /// Whether it answers `request`: all fields that `Vary` names are the same (RFC 9111 §4.1), as far as that can be
    /// seen.
    func matches(_ request: HttpRequest) -> Bool { selectors.match(seen: request) }

    /// Whether it must not be used before the server was asked: the server has said so, or it is unknown whether a
    /// field that `Vary` names will be the same on the wire.
    var mustBeValidated: Bool { control.noCache || selectors.areUnknowable }

    /// Whether there is something to validate it by.
    var hasValidator: Bool { header[.etag] != nil || header[.lastModified] != nil }

    /// The request with the conditions under which the server need not send it again (§4.3.1).
    func validating(_ request: HttpRequest) -> HttpRequest {
        var request = request
        if let tag = header[.etag] { request.header[.ifNoneMatch] = tag }
        if let date = header[.lastModified] { request.header[.ifModifiedSince] = date }
        return request
    }

    /// Whether a 304 is about this response, and not about another one of the same URL (§4.3.4).
    func isValidated(by response: HttpResponse<Data>) -> Bool {
        guard let tag = response.header[.etag] else { return true }
        return header[.etag]?.isWeaklyEqualTag(to: tag) ?? false
    }

    /// Whether the answer to a HEAD is about this response (§4.3.5).
    func isDescribed(by response: HttpResponse<Data>) -> Bool {
        if let tag = response.header[.etag], header[.etag]?.isWeaklyEqualTag(to: tag) != true { return false }
        if let date = response.header[.lastModified], header[.lastModified] != date { return false }
        // A decoded body's length proves nothing.
        guard let length = response.header[.contentLength], header["Content-Encoding"] == nil else { return true }
        return Int(length) == body.count
    }

    /// This response with the fields that a 304, or the answer to a HEAD, renews (§3.2).
    ///
    /// - Returns: Nil when no other request may get it any longer.
    func freshened(
        by response: HttpResponse<Data>,
        to seen: HttpRequest,
        sent: HttpRequest,
        of partition: CachePartition,
        requestTime: Int64,
        responseTime: Int64
    ) -> StoredResponse? {
        var updated = self
        // The length is the body's that is here, and so is what was done to it.
        let kept: Set<HttpHeader.Name> = [.contentLength, .contentType, "Content-Encoding", .contentRange]
        let newer = response.header.storable.fields.filter { !kept.contains($0.name) }
        updated.header.merge(HttpHeader(newer))
        // They gave the age of the former answer; without them, this one's age counts from its receipt.
        for name in [HttpHeader.Name.age, .date] where response.header[name] == nil { updated.header[name] = nil }
        (updated.requestTime, updated.responseTime) = (requestTime, responseTime)
        updated.control = CacheControl(updated.header)
        updated.date = updated.header.seconds(of: .date, now: responseTime)
        guard let selectors = VarySelectors(updated.header, seen: seen, sent: sent, partition) else { return nil }
        updated.selectors = selectors
        return updated
    }

    /// About how many bytes of memory it takes.
    var size: Int {
        let texts = header.fields.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 32 }
        let selecting = selectors.values.reduce(0) { sum, field in
            sum + field.key.utf8.count + (field.value.seen?.utf8.count ?? 0) + (field.value.sent?.utf8.count ?? 0)
        }
        return body.count + texts + selecting + 256
    }
}

extension HttpHeader {
    /// The fields that are kept: all, also unknown ones, since a body may be of no use without them (RFC 9111 §3.1),
    /// but those that are one exchange's own.
    fileprivate var storable: HttpHeader {
        let named = (self["Connection"] ?? "").split(separator: ",").map { Name(String($0.trimmingBlanks)) }
        let dropped = Self.ofOneExchange.union(named)
        return HttpHeader(fields.filter { !dropped.contains($0.name) })
    }

    private static let ofOneExchange: Set<Name> = [
        // Between two neighbours only (RFC 9110 §7.6.1).
        "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        // Between this client and its proxy.
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        // An answer to one credential, with a nonce that is good once (RFC 7615).
        "Authentication-Info",
        // No cookie is ever set twice.
        .setCookie, "Set-Cookie2",
    ]
}

extension String {
    /// Whether two entity tags are the same but for their weakness (RFC 9110 §8.8.3.2).
    fileprivate func isWeaklyEqualTag(to other: String) -> Bool {
        let (own, other) = (trimmingBlanks, other.trimmingBlanks)
        return (own.hasPrefix("W/") ? own.dropFirst(2) : own)
            == (other.hasPrefix("W/") ? other.dropFirst(2) : other)
    }
}

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
