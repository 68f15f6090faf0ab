extension HttpHeader {
    /// A field name: compared without regard to case (RFC 9110 §5.1), sent as it was written.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it was written.
        public let rawValue: String

        /// Creates a name; one that is not a token is refused when the request is built.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) {
            self.rawValue = value
        }

        /// Whether two names are the same but for case.
        public static func == (left: Name, right: Name) -> Bool {
            let (left, right) = (left.rawValue.utf8, right.rawValue.utf8)
            return left.count == right.count
                && zip(left, right).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
        }

        /// Hashes the name without its case.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// The name as it was written.
        public var description: String { rawValue }

        /// Whether a value under this name may be a secret: such values are never printed, and never follow a
        /// redirect to another origin.
        ///
        /// A name counts when it contains a word that credentials go by, since every vendor's `X-…-Token` cannot be
        /// listed. `Idempotency-Key` is no credential and is exempt.
        public var isSensitive: Bool {
            Self.sensitiveWords.contains { rawValue.utf8.contains(word: $0.utf8) } && self != .idempotencyKey
        }

        private static let sensitiveWords = [
            "auth", "bearer", "cookie", "credential", "csrf", "jwt", "key", "otp", "pass", "secret", "session",
            "signature", "token", "xsrf",
        ]
    }
}

extension HttpHeader.Name {
    /// The media types that the client can take.
    public static let accept = HttpHeader.Name("Accept")
    /// Which languages the user reads.
    public static let acceptLanguage = HttpHeader.Name("Accept-Language")
    /// The credential.
    public static let authorization = HttpHeader.Name("Authorization")
    /// How the body is encoded: `gzip`, say.
    public static let contentEncoding = HttpHeader.Name("Content-Encoding")
    /// The body's size in bytes.
    public static let contentLength = HttpHeader.Name("Content-Length")
    /// The body's media type.
    public static let contentType = HttpHeader.Name("Content-Type")
    /// Cookies sent to the server.
    public static let cookie = HttpHeader.Name("Cookie")
    /// When the server made the response.
    public static let date = HttpHeader.Name("Date")
    /// The key under which a server recognises a repeated request.
    public static let idempotencyKey = HttpHeader.Name("Idempotency-Key")
    /// Where a redirect leads.
    public static let location = HttpHeader.Name("Location")
    /// When to come back.
    public static let retryAfter = HttpHeader.Name("Retry-After")
    /// Cookies set by the server.
    public static let setCookie = HttpHeader.Name("Set-Cookie")
    /// The client's name.
    public static let userAgent = HttpHeader.Name("User-Agent")
    /// How the server wants to be authorized.
    public static let wwwAuthenticate = HttpHeader.Name("WWW-Authenticate")
}

extension String.UTF8View {
    /// Whether `word`, in small letters, occurs in any case. No copy is made: every field of a redirect is asked.
    fileprivate func contains(word: String.UTF8View) -> Bool {
        var rest = self[...]
        while rest.count >= word.count {
            if zip(rest, word).allSatisfy({ $0.asciiLowercased == $1 }) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

extension UInt8 {
    /// The byte, with `A`…`Z` made small.
    fileprivate var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}
