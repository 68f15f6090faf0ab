import Foundation
import Nautilus

/// The target that a stored response belongs to: a URL without its fragment, which is never sent.
struct CacheTarget: Hashable, Sendable {
    let origin: HttpOrigin
    /// Path and query as they are sent; `/` for none (RFC 9110 §4.2.3).
    let path: String

    /// Creates the target of a request; nil for a request without an origin.
    init?(_ request: HttpRequest) {
        guard let origin = request.origin else { return nil }
        self.init(origin: origin, url: request.url)
    }

    /// Creates the target of a URL; nil for a URL without an origin.
    init?(_ url: URL) {
        guard let origin = HttpOrigin(url) else { return nil }
        self.init(origin: origin, url: url)
    }

    /// Parsed by hand, since taking a URL apart costs more than everything else about a hit.
    private init(origin: HttpOrigin, url: URL) {
        self.origin = origin
        let bytes = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
        var (start, slashes) = (bytes.startIndex, 0)
        while start < bytes.endIndex, slashes < 2 {
            if bytes[start] == UInt8(ascii: "/") { slashes += 1 }
            start = bytes.index(after: start)
        }
        let rest = bytes[start...].drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let path = String(decoding: rest, as: UTF8.self)
        self.path = path.hasPrefix("/") ? path : "/" + path
    }

    /// The target that a field of a response names, if it is within this target's origin (RFC 9111 §4.4): no origin may
    /// remove another's answers.
    func related(_ location: String, to url: URL) -> CacheTarget? {
        // Read like a redirect's location, which may contain what a server has left unencoded.
        guard let other = URL(string: location.urlReference, relativeTo: url).flatMap({ CacheTarget($0.absoluteURL) }),
            other.origin == origin
        else { return nil }
        return other
    }

    /// A name for the target that does not reveal it, since URLs may contain tokens.
    var digest: String { Sha256.hash("\(origin)\(path)".utf8).hexadecimal }
}

/// Remembers which field names may stand for a credential. Every request that a cache sees is checked, mostly with the
/// same few names, and searching each name for words costs more than everything else about a hit.
final class CredentialNames: Sendable {
    static let shared = CredentialNames()

    private let known = Locked(RecentlyUsed<HttpHeader.Name, Bool>(limit: 256))

    func contains(_ name: HttpHeader.Name) -> Bool {
        known.withLock { known in
            if let isSensitive = known.value(for: name) { return isSensitive }
            let isSensitive = name.isSensitive
            known.update(name, default: isSensitive) { $0 = isSensitive }
            return isSensitive
        }
    }
}

extension HttpRequest {
    /// Whether a credential was put on the request, or any of its fields may be a secret that tells users apart.
    ///
    /// - Parameter appFields: Fields that belong to no user, whatever their names suggest.
    func hasCredential(besides appFields: Set<HttpHeader.Name>) -> Bool {
        isAuthorized
            || header.fields.contains { CredentialNames.shared.contains($0.name) && !appFields.contains($0.name) }
    }
}
