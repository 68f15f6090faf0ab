/// The scope of a credential: scope tokens, in no particular order, each once (RFC 6749 §3.3).
///
/// ```swift
/// let scope: OAuthScope = ["notes.read", "notes.write"]
/// scope.contains("notes.write")  // true
/// ```
public struct OAuthScope: Hashable, Sendable {
    /// The tokens, sorted, each once.
    public let tokens: [String]

    /// A scope of these tokens; empty ones are left out.
    public init(_ tokens: some Sequence<String>) {
        self.tokens = Set(tokens.filter { !$0.isEmpty }).sorted()
    }

    /// Reads a list of tokens separated by blanks, as servers send it.
    public init(parsing text: String) {
        self.init(text.split(separator: " ").map(String.init))
    }

    /// Whether there is no token at all.
    public var isEmpty: Bool { tokens.isEmpty }

    /// Whether it allows `token`.
    public func contains(_ token: String) -> Bool { tokens.contains(token) }
}

extension OAuthScope: ExpressibleByArrayLiteral, CustomStringConvertible {
    /// A scope of these tokens.
    public init(arrayLiteral tokens: String...) { self.init(tokens) }

    /// The tokens, separated by blanks, as they are sent.
    public var description: String { tokens.joined(separator: " ") }
}

extension OAuthScope: Codable {
    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        self.init(parsing: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the tokens as one text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
