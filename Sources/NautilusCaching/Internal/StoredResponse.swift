import Foundation
import Nautilus

/// A response as a cache keeps it, with the values from which its age is computed.
struct StoredResponse: Hashable, Sendable {
    let status: Int
    private(set) var header: HttpHeader
    let body: Data
    /// An identifier of the body; it stays the same when the header is renewed.
    let bodyID: String
    /// The fields that `Vary` names, with their values in the request.
    var selectors: VarySelectors
    /// When the request was sent and the answer received, in seconds since 1970.
    private(set) var requestTime: Int64
    private(set) var responseTime: Int64
    /// The header's `Cache-Control`, parsed once, since every hit needs it.
    private(set) var control: CacheControl
    /// When the server made the response, in seconds since 1970; nil if it does not say, and the time of receipt counts
    /// (RFC 9110 §6.6.1).
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

    /// Whether this response answers `request`: all fields that `Vary` names have the same values (RFC 9111 §4.1), as
    /// far as the cache can see.
    func matches(_ request: HttpRequest) -> Bool { selectors.match(seen: request) }

    /// Whether the server has to be asked before the response is used: the server has said so, or it is unknown whether
    /// a field that `Vary` names will be the same on the wire.
    var mustBeValidated: Bool { control.noCache || selectors.areUnknowable }

    /// Whether the response has a tag or a date by which it can be validated.
    var hasValidator: Bool { header[.etag] != nil || header[.lastModified] != nil }

    /// The request with conditions under which the server need not send this response again (§4.3.1).
    func validating(_ request: HttpRequest) -> HttpRequest {
        var request = request
        if let tag = header[.etag] { request.header[.ifNoneMatch] = tag }
        if let date = header[.lastModified] { request.header[.ifModifiedSince] = date }
        return request
    }

    /// Whether a 304 is about this response, and not about another response of the same URL (§4.3.4).
    func isValidated(by response: HttpResponse<Data>) -> Bool {
        guard let tag = response.header[.etag] else { return true }
        return header[.etag]?.isWeaklyEqualTag(to: tag) ?? false
    }

    /// Whether the answer to a HEAD is about this response (§4.3.5).
    func isDescribed(by response: HttpResponse<Data>) -> Bool {
        if let tag = response.header[.etag], header[.etag]?.isWeaklyEqualTag(to: tag) != true { return false }
        if let date = response.header[.lastModified], header[.lastModified] != date { return false }
        // The length of a decoded body proves nothing.
        guard let length = response.header[.contentLength], header["Content-Encoding"] == nil else { return true }
        return Int(length) == body.count
    }

    /// This response with the fields that a 304, or the answer to a HEAD, renews (§3.2).
    /// Its selectors stay the old ones.
    func freshened(by response: HttpResponse<Data>, requestTime: Int64, responseTime: Int64) -> StoredResponse {
        var updated = self
        // Length, type and encoding have to describe the body stored here.
        let kept: Set<HttpHeader.Name> = [.contentLength, .contentType, "Content-Encoding", .contentRange]
        let newer = response.header.storable.fields.filter { !kept.contains($0.name) }
        updated.header.merge(HttpHeader(newer))
        // These fields gave the age of the former answer; if the new one has none, its age counts from its receipt.
        for name in [HttpHeader.Name.age, .date] where response.header[name] == nil { updated.header[name] = nil }
        (updated.requestTime, updated.responseTime) = (requestTime, responseTime)
        updated.control = CacheControl(updated.header)
        updated.date = updated.header.seconds(of: .date, now: responseTime)
        return updated
    }

    /// The approximate number of bytes of memory that the response takes.
    var size: Int {
        let texts = header.fields.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 32 }
        let selecting = selectors.values.reduce(0) { sum, field in
            sum + field.key.utf8.count + (field.value.seen?.utf8.count ?? 0) + (field.value.sent?.utf8.count ?? 0)
        }
        return body.count + texts + selecting + 256
    }
}

extension HttpHeader {
    /// The fields that are kept: all, even unknown ones, since a body may be useless without them (RFC 9111 §3.1),
    /// except those that belong to one exchange.
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
        // The answer to one credential, with a nonce that is good once (RFC 7615).
        "Authentication-Info",
        // Cookies must not be set a second time.
        .setCookie, "Set-Cookie2",
    ]
}

extension String {
    /// Whether two entity tags are equal, disregarding weakness (RFC 9110 §8.8.3.2).
    fileprivate func isWeaklyEqualTag(to other: String) -> Bool {
        let (own, other) = (trimmingBlanks, other.trimmingBlanks)
        return (own.hasPrefix("W/") ? own.dropFirst(2) : own)
            == (other.hasPrefix("W/") ? other.dropFirst(2) : other)
    }
}
