import Foundation
import Nautilus

/// The reply of an authorization server that refuses a request (RFC 6749 §5.2).
struct ErrorReply: Sendable {
    /// The error code: 1 to 64 characters that §5.2 allows.
    let code: String
    /// The server's words for developers; nil when there are none.
    let serverDescription: String?
    /// Whether the code is one that ends a session.
    private let endsSession: Bool

    /// Reads an answer; nil when it names no error.
    ///
    /// - Parameters:
    ///   - answer: The answer, of any status.
    ///   - rules: The rules that find the code and say whether it ends a session. Default: those of the standard.
    ///   - secrets: The values that were sent; if the server repeats one of them in its code, it is not printed.
    init?(_ answer: HttpResponse<Data>, rules: OAuthRules = .standard, hiding secrets: [String] = []) {
        guard let code = rules.errorCode(answer) else { return nil }
        let fields = try? ReplyFields(answer)
        self.init(
            code: code,
            serverDescription: try? fields?.text("error_description"),
            endingCodes: rules.endingCodes,
            hiding: secrets
        )
    }

    /// Reads a refusal, as from a redirect's parameters (§4.1.2.1), whose codes end no session.
    init?(
        code: String,
        serverDescription: String?,
        endingCodes: Set<String> = [],
        hiding secrets: [String] = []
    ) {
        let allowed = code.utf8.filter { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard !allowed.isEmpty else { return nil }
        // The code is printed. A standard code is not a secret, even if a short secret happens to occur in it.
        let printed = String(decoding: allowed.prefix(64), as: UTF8.self)
        let isRepeating =
            !Self.knownCodes.contains(printed) && !endingCodes.contains(printed)
            && secrets.contains { code.contains($0) || String(decoding: allowed, as: UTF8.self).contains($0) }
        self.code = isRepeating ? "‹redacted›" : printed
        self.serverDescription = serverDescription
        endsSession = !isRepeating && endingCodes.contains(printed)
    }

    private static let knownCodes: Set<String> = [
        "access_denied", "account_selection_required", "authorization_pending", "consent_required", "expired_token",
        "interaction_required", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope", "login_required",
        "server_error", "slow_down", "temporarily_unavailable", "unauthorized_client", "unsupported_grant_type",
        "unsupported_token_type",
    ]

    /// The kind of error that the code means in the reply of a token endpoint (§5.2, RFC 8628 §3.5).
    var kind: OAuthError.Kind {
        if endsSession { return .invalidGrant }
        return switch code {
        case "access_denied": .accessDenied
        case "expired_token": .deviceCodeExpired
        // An authorization endpoint's codes (§4.1.2.1) that token endpoints also send.
        case "server_error", "temporarily_unavailable": .unavailable
        default: .misconfigured(code: code)
        }
    }
}

extension ErrorReply: Redacted {
    /// The code; never the server's own words.
    var description: String { "ErrorReply(\(code))" }
}
