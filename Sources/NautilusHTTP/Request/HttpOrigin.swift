import Foundation

/// Scheme, host and port: the unit that credentials and pauses belong to (RFC 6454).
public struct HttpOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The scheme, in lower case: `http` or `https`, or `ws` or `wss` underneath the opening of a web socket.
    public var scheme: String { parts.scheme }
    /// The host, in lower case; an IPv6 address without its brackets.
    public var host: String { parts.host }
    /// The port; if the URL names none, the scheme's default (443 for `https` and `wss`, otherwise 80).
    public var port: Int { parts.port }

    /// Behind a reference, since requests, errors and contexts carry an origin, and are copied more often than it is
    /// read.
    private let parts: Parts

    private final class Parts: Sendable {
        let scheme: String
        let host: String
        let port: Int

        init(scheme: String, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }
    }

    /// Creates the origin of `url`; nil if the URL has no scheme or no host (is relative, say), or has an encoded
    /// delimiter in its host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), var host = url.host?.lowercased(),
            !host.utf8.contains(where: { "/?#@\\".utf8.contains($0) })
        else { return nil }
        // Whether the brackets of an IPv6 address are part of the host differs between systems.
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty else { return nil }
        self.parts = Parts(scheme: scheme, host: host, port: url.port ?? Self.ownPort(of: scheme))
    }

    /// Whether scheme, host and port are the same.
    public static func == (left: HttpOrigin, right: HttpOrigin) -> Bool {
        let (left, right) = (left.parts, right.parts)
        return left === right || left.port == right.port && left.host == right.host && left.scheme == right.scheme
    }

    /// Hashes host and port, since origins hardly ever differ in the scheme alone.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.host)
        hasher.combine(parts.port)
    }

    /// The origin as a URL without a path, the default port left out.
    public var description: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == Self.ownPort(of: scheme) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    private static func ownPort(of scheme: String) -> Int {
        scheme == "https" || scheme == "wss" ? 443 : 80
    }
}

extension HttpOrigin {
    /// Whether the origin is this machine itself, whose traffic cannot be read elsewhere: `localhost`, 127.0.0.0/8,
    /// `::1`.
    ///
    /// Other spellings of these addresses do not count: systems differ in how they read them.
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy(\.isByte)
    }
}

extension Substring {
    /// Whether the text is a number from 0 to 255 without leading zeros, which would make some systems read it as
    /// octal.
    fileprivate var isByte: Bool {
        utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(self).map { String($0) == self } == true
    }
}
