import Foundation

/// An application that a demo server knows (RFC 6749 §2).
public struct DemoClient: Hashable, Sendable {
    /// The name it gives itself.
    public let id: String
    /// The secret that it proves its identity with; nil for a public client, which cannot keep a secret.
    public let secret: String?
    /// The grants by which it may ask for tokens.
    public let grants: Set<DemoGrant>
    /// Where the user may be sent back to, besides every address of this machine.
    public let redirectUris: Set<String>

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The name it gives itself.
    ///   - secret: The secret that it proves its identity with; nil, the default, for a public client.
    ///   - grants: The grants by which it may ask for tokens. Client credentials need a secret, whatever stands here.
    ///   - redirectUris: Where the user may be sent back to. Default: only to loopback addresses, at any port and path,
    ///     since a native app takes the port that it gets (RFC 8252 §7.3).
    public init(id: String, secret: String? = nil, grants: Set<DemoGrant>, redirectUris: Set<String> = []) {
        self.id = id
        self.secret = secret
        self.grants = grants
        self.redirectUris = redirectUris
    }

    /// A native app: public. A client that asks for a token without naming itself counts as this one.
    public static let app = DemoClient(
        id: "notes-app",
        grants: [.authorizationCode, .deviceCode, .refreshToken],
        redirectUris: ["example.notes:/signed-in"]
    )
    /// A service on a server of its own: confidential. Its secret is no secret, as nothing is in a demo.
    public static let service = DemoClient(
        id: "notes-service",
        secret: "a demo: secret?",
        grants: Set(DemoGrant.allCases)
    )

    package func mayUse(_ grant: DemoGrant) -> Bool {
        // RFC 6749 §4.4: a public client's credentials prove nothing.
        if grant == .clientCredentials, secret == nil { return false }
        return grants.contains(grant)
    }

    package func mayRedirect(to uri: String) -> Bool {
        // It ends up in a header, where a line break would begin another field.
        guard uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        guard let components = URLComponents(string: uri), components.scheme != nil else { return false }
        // RFC 6749 §3.1.2: no fragment.
        guard components.fragment == nil else { return false }
        if redirectUris.contains(uri) { return true }
        let isLoopback = ["127.0.0.1", "[::1]", "::1", "localhost"].contains(components.host?.lowercased())
        return components.scheme?.lowercased() == "http" && isLoopback && components.user == nil
    }
}

extension DemoClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The id; never the secret.
    public var description: String { "DemoClient(\(id))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the id alone.
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
