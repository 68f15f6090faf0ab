import Foundation

/// Scheme, host and port: what credentials and pauses belong to (RFC 6454).
public struct HttpOrigin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`, in small letters.
    public let scheme: String
    /// The host, in small letters.
    public let host: String
    /// The port; the scheme's own (80, 443) when the URL names none.
    public let port: Int

    /// The origin of `url`; nil when it has no scheme or no host, as a relative one.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host
        self.port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// The origin as a URL without a path, the default port left out.
    public var description: String {
        port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}
