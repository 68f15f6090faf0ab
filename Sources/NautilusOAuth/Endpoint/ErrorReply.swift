import Foundation

/// The reply of an authorization server that refuses (RFC 6749 §5.2).
struct ErrorReply: Sendable {
    /// The error code: characters of §5.2 only, 1 to 64 of them.
    let code: String
    /// The server's words for developers; nil when there are none.
    let serverDescription: String?

    /// Reads a reply; nil when it names no error. One whose `Content-Type` is neither a form nor text is read as JSON,
    /// whatever the type: a body that parses is what it is.
    ///
    /// - Parameters:
    ///   - body: The reply's body.
    ///   - contentType: Its `Content-Type`. Default: nil, it has none.
    ///   - secrets: The values that were sent; if the server repeats one in its code, it is not printed.
    init?(_ body: Data, contentType: String? = nil, hiding secrets: [String] = []) {
        let form = contentType.flatMap { ReplyFields.mayBeForm($0) ? $0 : nil }
        guard let fields = try? ReplyFields(body, contentType: form), let code = try? fields.text("error") else {
            return nil
        }
        self.init(code: code, serverDescription: try? fields.text("error_description"), hiding: secrets)
    }

    /// The same from a redirect's parameters (§4.1.2.1).
    init?(code: String, serverDescription: String?, hiding secrets: [String] = []) {
        let allowed = code.utf8.filter { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard !allowed.isEmpty else { return nil }
        // The code is printed. One of the standard's is no secret, however short a secret may be.
        let isRepeating = !Self.knownCodes.contains(code) && secrets.contains { code.contains($0) }
        self.code = isRepeating ? "‹redacted›" : String(decoding: allowed.prefix(64), as: UTF8.self)
        self.serverDescription = serverDescription
    }

    private static let knownCodes: Set<String> = [
        "access_denied", "authorization_pending", "expired_token", "invalid_client", "invalid_grant", "invalid_request",
        "invalid_scope", "server_error", "slow_down", "temporarily_unavailable", "unauthorized_client",
        "unsupported_grant_type", "unsupported_token_type",
    ]

    /// The kind of error that the code means in the reply of a token endpoint (§5.2, RFC 8628 §3.5).
    var kind: OAuthError.Kind {
        switch code {
        case "invalid_grant": .invalidGrant
        case "access_denied": .accessDenied
        case "expired_token": .deviceCodeExpired
        // Of the authorization endpoint (§4.1.2.1), but sent here, too.
        case "server_error", "temporarily_unavailable": .unavailable
        default: .misconfigured(code: code)
        }
    }
}

extension ErrorReply: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The code; never the server's own words.
    var description: String { "ErrorReply(\(code))" }
    /// The same as ``description``.
    var debugDescription: String { description }
    /// Shows what ``description`` shows.
    var customMirror: Mirror { Mirror(self, children: ["reply": description]) }
}
