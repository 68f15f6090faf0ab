/// The target of a redirect, without its query, by which an app tells its own redirect from another.
///
/// Read by hand: Foundation's parsing of schemes, hosts and escapes differs from one system to the next.
struct RedirectTarget: Hashable, Sendable {
    /// In small letters.
    let scheme: String
    /// Host and port in small letters, a default port left out; empty for `app:/path`, nil for `app:path`.
    let authority: String?
    /// As it is written; `/` where there is an authority and no path.
    let path: String

    /// Reads a URL up to its query or fragment; nil when it is not absolute, not ASCII, or has a user in it.
    init?(_ url: Substring) {
        // Bytes, not characters: a question mark with a combining accent is one character, and still ends the path.
        let text = url[..<(url.utf8.firstIndex { "?#".utf8.contains($0) } ?? url.endIndex)]
        // Other letters have small forms that are ASCII: two hosts would be taken for one.
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

    /// Whether a browser may be sent there with a code: not where it would be run, stored, mailed or transmitted by a
    /// protocol that was made for something else.
    ///
    /// A list, and no rule: RFC 8252 §7.1 wants an app's scheme to be a domain name in reverse, `com.example.app`, and
    /// many that servers have registered are not.
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
        // Mails, calls and messages. URNs name things that are nowhere, the copied code of RFC 8252 appendix B.2 among
        // them.
        "cid", "geo", "mailto", "mid", "sip", "sips", "sms", "tel", "urn",
    ]

    private static func normalized(_ authority: String, _ scheme: String) -> String {
        let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : ":"
        return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }
}

extension UInt8 {
    fileprivate var isAsciiLetter: Bool { 0x41...0x5A ~= self || 0x61...0x7A ~= self }
    /// RFC 3986 §3.1.
    fileprivate var isSchemeCharacter: Bool { isAsciiLetter || 0x30...0x39 ~= self || "+-.".utf8.contains(self) }
}
