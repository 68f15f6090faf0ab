import Foundation

/// Header fields, in order. Names ignore case, and a name may have several values.
///
/// ```swift
/// var header: HttpHeader = ["Accept": "application/json"]
/// header[.userAgent] = "Notes/1.0"
/// header.add("no-store", to: "Cache-Control")
/// ```
public struct HttpHeader: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// One line of a header.
    public struct Field: Hashable, Sendable {
        /// The name, as it was written.
        public let name: Name
        /// The value, as it was written.
        public let value: String

        /// Creates a field; it is checked only when the request is built.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    private enum Storage: Sendable {
        case fields([Field])
        /// The lines as received.
        case lines(FieldLines)
    }

    private var storage: Storage

    /// All fields, in the order in which they go on the wire.
    public private(set) var fields: [Field] {
        get {
            switch storage {
            case .fields(let fields): fields
            case .lines(let lines): lines.fields
            }
        }
        _modify {
            var changed = fields
            // Drops the stored copy, so that the array is changed in place unless something else holds it.
            storage = .fields([])
            defer { storage = .fields(changed) }
            yield &changed
        }
    }

    /// Creates a header from fields; repeated names are kept.
    public init(_ fields: [Field] = []) {
        storage = .fields(fields)
    }

    /// Creates a header from a literal; repeated names are kept.
    public init(dictionaryLiteral elements: (Name, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }

    /// Creates a header from a dictionary, sorted by name, so that a repeated request is identical.
    public init(_ values: [String: String]) {
        self.init(values.sorted { $0.key < $1.key }.map { Field(name: Name($0.key), value: $0.value) })
    }

    /// A user's name and password as `Authorization: Basic …` (RFC 7617), in UTF-8.
    ///
    /// ```swift
    /// var header: HttpHeader { .basicAuthorization(user: "notes", password: key) }
    /// ```
    /// - Parameters:
    ///   - user: The name. It cannot have a colon: servers take what follows for the password (§2).
    ///   - password: The password, or the key that a service wants in its place.
    public static func basicAuthorization(user: String, password: String) -> HttpHeader {
        [.authorization: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()]
    }

    /// Creates a header from its lines as received, with their ends.
    package init(lines: [UInt8]) {
        storage = FieldLines(lines).map(Storage.lines) ?? .fields(FieldLines.fields(of: lines))
    }

    /// Whether there is no field.
    public var isEmpty: Bool {
        switch storage {
        case .fields(let fields): fields.isEmpty
        case .lines(let lines): lines.isEmpty
        }
    }

    /// The value of `name`, several joined by `", "` (RFC 9110 §5.3); nil when there is none.
    ///
    /// Setting a value replaces all values of `name`, in the place of the first; setting nil removes them.
    public subscript(name: Name) -> String? {
        get {
            if case .lines(let lines) = storage { return lines.joinedValues(of: name) }
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            return fields[(first + 1)...].reduce(into: fields[first].value) { joined, field in
                if field.name == name { joined += ", " + field.value }
            }
        }
        set {
            let first = fields.firstIndex { $0.name == name }
            if first != nil { fields.removeAll { $0.name == name } }
            guard let newValue else { return }
            fields.insert(Field(name: name, value: newValue), at: first ?? fields.count)
        }
    }

    /// Every value of `name`, one per field, in order; empty when there is none.
    ///
    /// The only right way to read `Set-Cookie`, whose values cannot be joined.
    public func values(of name: Name) -> [String] {
        if case .lines(let lines) = storage { return lines.values(of: name) }
        return fields.compactMap { $0.name == name ? $0.value : nil }
    }

    /// The cookies in one value. `Cookie` is the only list that must be a single line (RFC 6265 §5.4), and the only one
    /// that is not joined by commas.
    package var joinedCookies: String { values(of: .cookie).joined(separator: "; ") }

    /// Adds a field and keeps those that are already there.
    public mutating func add(_ value: String, to name: Name) {
        fields.append(Field(name: name, value: value))
    }

    /// Takes over all fields of `other`; a name that both have keeps only the values of `other`.
    public mutating func merge(_ other: HttpHeader) {
        guard !isEmpty else {
            self = other
            return
        }
        guard !other.isEmpty else { return }
        if other.fields.count <= Self.fewFields {
            fields.removeAll { field in other.fields.contains { $0.name == field.name } }
        } else {
            let names = Set(other.fields.map(\.name))
            fields.removeAll { names.contains($0.name) }
        }
        fields += other.fields
    }

    /// The number of fields up to which names are compared one by one, which is cheaper than a set; a server may send
    /// thousands.
    private static let fewFields = 16

    /// This header with the fields of `other`, which replace those of the same name.
    public func merging(_ other: HttpHeader) -> HttpHeader {
        var merged = self
        merged.merge(other)
        return merged
    }

    /// This header without the fields whose names are ``Name/isSensitive``.
    package var withoutSensitiveFields: HttpHeader {
        HttpHeader(fields.filter { !$0.name.isSensitive })
    }
}

extension HttpHeader {
    /// Whether both have the same fields in the same order, names without regard to case.
    public static func == (left: HttpHeader, right: HttpHeader) -> Bool {
        if case .lines(let own) = left.storage, case .lines(let others) = right.storage, own == others { return true }
        return left.fields == right.fields
    }

    /// Hashes the fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension HttpHeader: Redacted {
    /// One field per line, the values of sensitive names replaced by `‹redacted›`.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }

    /// Shows the redacted fields, so that `dump` leaks nothing either.
    public var customMirror: Mirror {
        Mirror(self, children: ["fields": fields.map(\.description)])
    }
}

extension HttpHeader.Field: Redacted {
    /// The field, its value replaced by `‹redacted›` when its name is sensitive, or cut off where a URL's query would
    /// begin.
    public var description: String {
        "\(name): \(name.isSensitive ? "‹redacted›" : value.withoutUrlSecrets)"
    }
}

extension String {
    /// The text up to the first `?` or `#`, since a value may be a URL (`Location`, `Referer`) with a token in it; a
    /// URL with user and password is hidden altogether.
    fileprivate var withoutUrlSecrets: String {
        let end = unicodeScalars.firstIndex { $0 == "?" || $0 == "#" }
        let kept = end.map { unicodeScalars[...$0] } ?? unicodeScalars[...]
        let segments = kept.split(separator: "/", omittingEmptySubsequences: false)
        // The authority is between `//` and the next slash.
        let hasUser = zip(segments, segments.dropFirst()).contains { $0.isEmpty && $1.contains("@") }
        if hasUser { return "‹redacted›" }
        return end == nil ? self : String(kept) + "…"
    }
}

extension HttpHeader {
    /// A field name, compared without regard to case (RFC 9110 §5.1) and sent as it was written.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it was written.
        public let rawValue: String

        /// Creates a name; a name that is not a token is refused when the request is built.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) {
            self.rawValue = value
        }

        /// Whether two names are the same, without regard to case.
        public static func == (left: Name, right: Name) -> Bool {
            let (left, right) = (left.rawValue.utf8, right.rawValue.utf8)
            return left.count == right.count
                && zip(left, right).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
        }

        /// Hashes the name without regard to case.
        public func hash(into hasher: inout Hasher) {
            for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        /// The name as it was written.
        public var description: String { rawValue }

        /// Whether a value under this name may be a secret: such values are never printed, and never sent to another
        /// origin.
        ///
        /// A name counts if it contains a word that is common in the names of credentials, since not every vendor's
        /// `X-…-Token` can be listed. `Sec-WebSocket-Protocol` counts as well, since browsers leave no other field for
        /// a token. `Idempotency-Key` is not a credential, and so is exempt.
        public var isSensitive: Bool {
            if self == .secWebSocketProtocol { return true }
            return Self.sensitiveWords.contains { rawValue.utf8.contains(word: $0.utf8) } && self != .idempotencyKey
        }

        private static let sensitiveWords = [
            "auth", "bearer", "cookie", "credential", "csrf", "jwt", "key", "otp", "pass", "secret", "session",
            "signature", "ticket", "token", "xsrf",
        ]
    }
}

extension HttpHeader.Name {
    /// The media types that the client accepts.
    public static let accept = HttpHeader.Name("Accept")
    /// Which languages the user reads.
    public static let acceptLanguage = HttpHeader.Name("Accept-Language")
    /// The protocols spoken over a web socket, in which many services carry their token.
    static let secWebSocketProtocol = HttpHeader.Name("Sec-WebSocket-Protocol")
    /// The credential.
    public static let authorization = HttpHeader.Name("Authorization")
    /// How the body is encoded, for instance `gzip`.
    public static let contentEncoding = HttpHeader.Name("Content-Encoding")
    /// The body's size in bytes.
    public static let contentLength = HttpHeader.Name("Content-Length")
    /// Which part of a file the body is.
    public static let contentRange = HttpHeader.Name("Content-Range")
    /// The body's media type.
    public static let contentType = HttpHeader.Name("Content-Type")
    /// Cookies sent to the server.
    public static let cookie = HttpHeader.Name("Cookie")
    /// When the server made the response.
    public static let date = HttpHeader.Name("Date")
    /// The version of the resource that the body represents.
    public static let etag = HttpHeader.Name("ETag")
    /// The key under which a server recognises a repeated request.
    public static let idempotencyKey = HttpHeader.Name("Idempotency-Key")
    /// The versions that need not be sent again.
    public static let ifNoneMatch = HttpHeader.Name("If-None-Match")
    /// The event after which a feed continues.
    public static let lastEventId = HttpHeader.Name("Last-Event-ID")
    /// Where a redirect leads.
    public static let location = HttpHeader.Name("Location")
    /// The part of a file that is asked for.
    public static let range = HttpHeader.Name("Range")
    /// How long to wait before another request.
    public static let retryAfter = HttpHeader.Name("Retry-After")
    /// Cookies set by the server.
    public static let setCookie = HttpHeader.Name("Set-Cookie")
    /// The client's name.
    public static let userAgent = HttpHeader.Name("User-Agent")
    /// How the server wants to be authorized.
    public static let wwwAuthenticate = HttpHeader.Name("WWW-Authenticate")
}

extension String.UTF8View {
    /// Whether `word`, given in lower case, occurs in any case. Makes no copy, since many fields are checked.
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
    /// The byte, with `A`…`Z` in lower case.
    var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }
}
