import Foundation
import Nautilus

/// A sign-in by browser that has begun: the URL to visit, and the values to check its answer against.
///
/// Show ``url`` in the system's browser. Then hand the URL that the browser is redirected to, together with this value,
/// to ``TokenEndpoint/exchange(_:for:parameters:)``. A request is good for one sign-in.
public struct AuthorizationRequest: Sendable {
    /// The URL to show in the browser. Its secrets are useless without this value, but it must not be logged.
    public let url: URL
    /// The URL that the browser comes back to, as it was passed in.
    public let redirect: String
    /// The issuer that the request was made for: an answer is never taken to another server.
    let issuer: String
    /// The scope to ask for; nil for the server's own choice.
    let scope: OAuthScope?
    /// The value that ties the redirect to this request (RFC 6749 §10.12).
    let state: Secret
    /// The proof that the client redeeming the code is the one that began the sign-in (RFC 7636).
    let verifier: Secret
    /// Shared by all copies of the request.
    private let isRedeemed = Locked(false)

    init(url: URL, redirect: String, issuer: String, scope: OAuthScope?, state: Secret, verifier: Secret) {
        (self.url, self.redirect, self.issuer) = (url, redirect, issuer)
        (self.scope, self.state, self.verifier) = (scope, state, verifier)
    }

    /// Notes that the request is being exchanged.
    ///
    /// - Returns: False when it has been exchanged before.
    func redeem() -> Bool {
        isRedeemed.withLock { isRedeemed in
            defer { isRedeemed = true }
            return !isRedeemed
        }
    }

    /// Takes the note back, since the server has not looked at the code.
    func unredeem() { isRedeemed.withLock { $0 = false } }
}

extension AuthorizationRequest: Redacted {
    /// The issuer; never the state or the verifier.
    public var description: String { "AuthorizationRequest(\(issuer))" }
}

/// The target of a redirect, without its query; it tells an app's own redirect from another.
///
/// Parsed by hand, since Foundation's parsing of schemes, hosts and escapes differs from one system to the next.
struct RedirectTarget: Hashable, Sendable {
    /// The scheme, in lowercase.
    let scheme: String
    /// Host and port in lowercase, without a default port; empty for `app:/path`, nil for `app:path`.
    let authority: String?
    /// The path, as it is written; `/` where there is an authority and no path.
    let path: String

    /// Reads a URL up to its query or fragment; nil when the URL is not absolute, is not ASCII, or contains a user.
    init?(_ url: Substring) {
        // Works on bytes, since a question mark with a combining accent is a different character, and still ends the
        // path.
        let text = url[..<(url.utf8.firstIndex { "?#".utf8.contains($0) } ?? url.endIndex)]
        // Some letters outside ASCII have an ASCII letter as their lowercase form, so two different hosts could look
        // the same.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon]
        let rest = text[text.utf8.index(after: colon)...]
        guard let first = scheme.utf8.first, first.isAsciiLetter, scheme.utf8.allSatisfy(\.isSchemeCharacter) else {
            return nil
        }
        self.scheme = scheme.lowercased()
        guard rest.utf8.starts(with: "//".utf8) else {
            authority = nil
            path = String(rest)
            return
        }
        let afterSlashes = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
        let end = afterSlashes.utf8.firstIndex(of: UInt8(ascii: "/")) ?? afterSlashes.endIndex
        guard !afterSlashes[..<end].utf8.contains(UInt8(ascii: "@")) else { return nil }
        authority = Self.normalized(afterSlashes[..<end].lowercased(), self.scheme)
        let path = afterSlashes[end...]
        self.path = path.isEmpty ? "/" : String(path)
    }

    /// Whether a browser may be sent to this target with a code: not if the code would be run, stored, mailed, or sent
    /// over a protocol that was made for something else.
    ///
    /// A list rather than a rule: RFC 8252 §7.1 wants an app's scheme to be a reversed domain name, such as
    /// `com.example.app`, but many schemes that servers have registered are not.
    var hasSchemeForCodes: Bool { !Self.foreignSchemes.contains(scheme) }

    private static let foreignSchemes: Set<String> = [
        // Run or shown by the browser itself.
        "about", "blob", "chrome", "data", "filesystem", "jar", "javascript", "resource", "vbscript", "view-source",
        // Files, and schemes that apps share.
        "content", "file", "intent",
        // Protocols, where a code has no meaning.
        "dav", "ftp", "ftps", "gopher", "imap", "irc", "ircs", "ldap", "ldaps", "news", "nfs", "nntp", "pop", "rtsp",
        "sftp",
        "smb", "ssh", "telnet", "ws", "wss",
        // Mails, calls and messages. URNs name things without a location; they include the copied code of RFC 8252
        // appendix B.2.
        "cid", "geo", "mailto", "mid", "sip", "sips", "sms", "tel", "urn",
    ]

    private static func normalized(_ authority: String, _ scheme: String) -> String {
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ":"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }
}

extension UInt8 {
    fileprivate var isAsciiLetter: Bool { 0x41...0x5A ~= self || 0x61...0x7A ~= self }
    /// Whether the byte may occur in a scheme (RFC 3986 §3.1).
    fileprivate var isSchemeCharacter: Bool { isAsciiLetter || 0x30...0x39 ~= self || "+-.".utf8.contains(self) }
}

/// The content of a redirect to the app: a code, or the reason why there is none (RFC 6749 §4.1.2).
///
/// Anybody can send a browser to the app's redirect URL with any query, so everything is checked before a code is used.
struct RedirectReply: Sendable {
    private let fields: FormFields

    /// Reads the URL that the browser was redirected to.
    ///
    /// - Throws: ``OAuthError/Kind/invalidParameter(reason:)`` for a URL that does not lead to `target`,
    ///   ``OAuthError/Kind/malformedReply(reason:)`` for a query that cannot be read.
    init(_ url: String, to target: String) throws(OAuthError) {
        guard let expected = RedirectTarget(target[...]), RedirectTarget(url[...]) == expected else {
            throw OAuthError(.invalidParameter(reason: "the URL is not that of this sign-in's redirect"))
        }
        let bytes = url.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let start = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        guard let fields = FormFields(url[start..<end].dropFirst()) else {
            throw OAuthError(.malformedReply(reason: "the redirect's query is not form-encoded"))
        }
        self.fields = fields
    }

    /// The code, once it is certain that it belongs to `request`.
    ///
    /// - Parameters:
    ///   - request: The request that the redirect must answer.
    ///   - namesIssuer: Whether the server is known to name itself in every redirect (RFC 9207 §3).
    /// - Throws: ``OAuthError``; the server's words are believed only after state and issuer are right.
    func code(for request: AuthorizationRequest, namesIssuer: Bool) throws(OAuthError) -> String {
        guard let state = try value("state"), request.state.matches(state) else { throw OAuthError(.stateMismatch) }
        try checkIssuer(of: request, mustBeNamed: namesIssuer)
        if let error = try value("error") { throw try refusal(error) }
        guard let code = try value("code"), !code.isEmpty else {
            throw OAuthError(.malformedReply(reason: "the redirect has neither a code nor an error"))
        }
        return code
    }

    private func checkIssuer(of request: AuthorizationRequest, mustBeNamed: Bool) throws(OAuthError) {
        guard let issuer = try value("iss") else {
            if mustBeNamed { throw OAuthError(.issuerMismatch) }
            return
        }
        // Compared as bytes, since texts that Unicode calls equivalent are two different issuers (RFC 9207 §2.4).
        guard issuer.utf8.elementsEqual(request.issuer.utf8) else { throw OAuthError(.issuerMismatch) }
    }

    /// The error that `code` means in a redirect (§4.1.2.1). Unlike in a token endpoint's reply, no error here ends a
    /// session, since the browser brings it.
    private func refusal(_ code: String) throws(OAuthError) -> OAuthError {
        guard let reply = ErrorReply(code: code, serverDescription: try value("error_description")) else {
            return OAuthError(.malformedReply(reason: "the redirect's error has no code"))
        }
        let kind: OAuthError.Kind =
            switch reply.code {
            case "access_denied": .accessDenied
            case "server_error", "temporarily_unavailable": .unavailable
            default: .misconfigured(code: reply.code)
            }
        return OAuthError(kind, serverDescription: reply.serverDescription)
    }

    /// The value of `name`; nil when it is missing.
    ///
    /// - Throws: ``OAuthError/Kind/malformedReply(reason:)`` when it occurs twice (§3.1), since it is unknown which
    ///   value the server means, and which one another reader would take.
    private func value(_ name: String) throws(OAuthError) -> String? {
        let values = fields.values(of: name)
        guard values.count <= 1 else {
            throw OAuthError(.malformedReply(reason: "the redirect has several values of \(name)"))
        }
        return values.first
    }
}
