import Foundation

/// The path of a request below the service's base URL, component by component.
///
/// ```swift
/// var route: HttpRoute { ["users", userId, "notes", 7] }
/// ```
/// A component is data, never a path: `/`, `%` and Unicode are percent-encoded, and a component `.` or `..` is refused.
/// A component that is a secret is marked, `["reset", .sensitive(token)]`, and never printed.
public struct HttpRoute: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The components as they were given, before encoding, secrets included.
    public let components: [String]
    /// The values that were marked as secrets.
    package let secrets: [String]
    /// Whether the path ends in `/`.
    package let hasTrailingSlash: Bool

    /// Creates a route from its components.
    ///
    /// - Parameters:
    ///   - components: The components, not encoded. An empty one is refused when the request is built, since `/users/`
    ///     addresses something else than `/users/{id}`; and so is one of one or two dots.
    ///   - trailingSlash: Whether the path ends in `/`. Default: false, since with a slash most servers see another
    ///     resource.
    public init(_ components: [String], trailingSlash: Bool = false) {
        self.init(components, secrets: [], trailingSlash: trailingSlash)
    }

    /// Creates a route from components of several types, among them secrets: `HttpRoute(["reset", .sensitive(token)],
    /// trailingSlash: true)`.
    ///
    /// - Parameters:
    ///   - components: The components, not encoded; each is taken by its description.
    ///   - trailingSlash: Whether the path ends in `/`. Default: false, since with a slash most servers see another
    ///     resource.
    @_disfavoredOverload
    public init(_ components: [any CustomStringConvertible], trailingSlash: Bool = false) {
        var secrets: [String] = []
        let texts = components.map { component in
            guard type(of: component) == SensitiveComponent.self, let secret = component as? SensitiveComponent else {
                return component.description
            }
            secrets.append(secret.value)
            return secret.value
        }
        self.init(texts, secrets: secrets, trailingSlash: trailingSlash)
    }

    /// Creates a route from anything that describes itself: strings, numbers, UUIDs, your own identifiers.
    public init(arrayLiteral components: any CustomStringConvertible...) {
        self.init(components)
    }

    /// Creates a route; `secrets` are hidden wherever they occur in the request's URL.
    package init(_ components: [String], secrets: [String], trailingSlash: Bool) {
        self.components = components
        self.secrets = secrets
        self.hasTrailingSlash = trailingSlash
    }

    /// The path, with `/` before every component; empty for no components.
    ///
    /// - Throws: ``HttpRequest/Invalid/emptyRouteComponent(index:)``,
    ///   ``HttpRequest/Invalid/dotRouteComponent(index:)``.
    func encoded() throws(HttpRequest.Invalid) -> String {
        var path = ""
        for (index, component) in components.enumerated() {
            guard !component.isEmpty else { throw .emptyRouteComponent(index: index) }
            // Encoded or not, it is a step within the path to most servers (RFC 3986 §6.2.2).
            guard component != ".", component != ".." else { throw .dotRouteComponent(index: index) }
            path += "/"
            path += component.percentEncoded
        }
        if hasTrailingSlash { path += "/" }
        return path
    }
}

extension HttpRoute {
    /// A component whose value is never printed; written as `.sensitive(value)` in a route.
    public struct SensitiveComponent: Sendable {
        fileprivate let value: String
    }
}

extension HttpRoute.SensitiveComponent: Redacted {
    /// Never the value.
    public var description: String { "‹redacted›" }
}

extension CustomStringConvertible where Self == HttpRoute.SensitiveComponent {
    /// A component of a route that is a secret, such as the token of a reset link or a webhook:
    /// `["hooks", .sensitive(token)]`.
    ///
    /// It is sent like any other component. Errors, traces, observers and descriptions print `‹redacted›` in its
    /// place, wherever it occurs in the URL, also after a redirect; ``HttpRequest/curlCommand(showsSecrets:)`` shows it
    /// on demand.
    ///
    /// - Parameter value: The component, not encoded.
    public static func sensitive(_ value: some CustomStringConvertible) -> HttpRoute.SensitiveComponent {
        HttpRoute.SensitiveComponent(value: value.description)
    }
}

extension HttpRoute: Redacted {
    /// The path as it is sent, without the secrets in it; empty for no components.
    public var description: String {
        components.map { "/" + (secrets.contains($0) ? "‹redacted›" : $0.percentEncoded) }.joined()
            + (hasTrailingSlash ? "/" : "")
    }
}

extension HttpHeader.Field {
    /// The field without the segments of its value that contain one of the secrets.
    func hiding(_ secrets: [String]) -> HttpHeader.Field {
        secrets.isEmpty ? self : HttpHeader.Field(name: name, value: value.hiding(secrets))
    }
}

extension String {
    /// The text, such as a path or a URL, without the segments that contain one of the secrets, encoded or not.
    func hiding(_ secrets: [String]) -> String {
        guard !secrets.isEmpty else { return self }
        var segments = split(separator: "/", omittingEmptySubsequences: false)
        for secret in secrets where !secret.isEmpty {
            segments = segments.map { $0.holds(secret[...]) ? "‹redacted›" : $0 }
            // A server that repeats the path may have decoded the slashes in it.
            let pieces = secret.split(separator: "/")
            guard pieces.count > 1, segments.joined(separator: "/")[...].holds(secret[...]) else { continue }
            segments = segments.map { segment in pieces.contains(where: segment.holds) ? "‹redacted›" : segment }
        }
        return segments.joined(separator: "/")
    }

    /// The string with every byte but the unreserved ones of RFC 3986 §2.3 percent-encoded.
    package var percentEncoded: String {
        // Most strings need no encoding.
        hasOnly(\.isUnreserved) ? self : Self.percentEncoding(utf8) { $0.isUnreserved }
    }

    /// A reference that a server has written, with characters that do not belong in a URL percent-encoded, and encoded
    /// ones left as they are. Foundation refuses such a reference on older systems; on newer ones, it encodes every `%`
    /// in it again.
    package var urlReference: String {
        let segments = utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard segments.count == 3, segments[1].isEmpty else {
            return Self.percentEncoding(utf8) { $0.isUrlCharacter }
        }
        // The authority is between `//` and the path; its brackets and international names are left to Foundation.
        let end = segments[2].firstIndex { "/?#".utf8.contains($0) } ?? utf8.endIndex
        return self[..<end] + Self.percentEncoding(utf8[end...]) { $0.isUrlCharacter }
    }

    /// `bytes` as text, percent-encoded where they are not `allowed`.
    static func percentEncoding(_ bytes: some Collection<UInt8>, allowed: (UInt8) -> Bool) -> String {
        guard !bytes.allSatisfy(allowed) else { return String(decoding: bytes, as: UTF8.self) }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count * 3)
        for byte in bytes {
            if allowed(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append((byte >> 4).hexDigit)
                encoded.append((byte & 15).hexDigit)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension Substring {
    /// Whether the text contains `secret`, as it is, or percent-encoded once or, by a careless server, twice.
    fileprivate func holds(_ secret: Substring) -> Bool {
        let secret = Array(secret.utf8)
        var bytes = Array(utf8)
        for _ in 0..<3 {
            if bytes.firstRange(of: secret) != nil { return true }
            bytes = bytes.percentDecoded
        }
        return false
    }
}

extension [UInt8] {
    /// The bytes with each `%` and two digits as the byte that they stand for; anything else stays.
    fileprivate var percentDecoded: [UInt8] {
        var (decoded, index): ([UInt8], Int) = ([], 0)
        while index < count {
            let digits = self[index] == UInt8(ascii: "%") ? self[index...].dropFirst().prefix(2) : []
            let byte = digits.count == 2 ? UInt8(String(decoding: digits, as: UTF8.self), radix: 16) : nil
            decoded.append(byte ?? self[index])
            index += byte == nil ? 1 : 3
        }
        return decoded
    }
}

extension UInt8 {
    /// `0`…`9`.
    package var isDigit: Bool { 0x30...0x39 ~= self }

    /// `0`…`9`, `A`…`F`, `a`…`f`.
    package var isHexDigit: Bool { hexValue != nil }

    /// The value of a hexadecimal digit; nil for anything else.
    package var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// `ALPHA` or `DIGIT`.
    package var isLetterOrDigit: Bool { isDigit || 0x41...0x5A ~= self || 0x61...0x7A ~= self }

    /// `ALPHA / DIGIT / "-" / "." / "_" / "~"` (RFC 3986 §2.3).
    var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isLetterOrDigit
        }
    }

    /// Whether the byte may occur in a URL after the authority: unreserved characters, reserved ones except brackets,
    /// and `%`.
    var isUrlCharacter: Bool {
        switch Unicode.Scalar(self) {
        case "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", ":", "@", "/", "?", "#", "%": true
        default: isUnreserved
        }
    }

    /// Whether the byte may occur in methods and field names: `tchar` of RFC 9110 §5.6.2.
    package var isTokenCharacter: Bool {
        switch Unicode.Scalar(self) {
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": true
        default: isLetterOrDigit
        }
    }

    /// The digit for a value from 0 to 15.
    fileprivate var hexDigit: UInt8 { self < 10 ? 0x30 + self : 0x41 + self - 10 }
}
