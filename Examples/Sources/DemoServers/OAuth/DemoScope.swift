/// What a token is good for (RFC 6749 §3.3): words without an order.
public struct DemoScope: Hashable, Sendable, CustomStringConvertible {
    /// Needed to create and to delete notes. To read them, any token does.
    public static let write = "notes.write"
    /// What a token is good for when nobody asked for less.
    public static let all = DemoScope("notes.read \(write)")

    private let words: Set<String>

    /// Creates a scope from words with spaces between them.
    public init(_ text: String) {
        words = Set(text.split(separator: " ").map(String.init))
    }

    /// Whether the scope has this word.
    public func contains(_ word: String) -> Bool { words.contains(word) }

    /// The words in their fixed order, with spaces between them.
    public var description: String { words.sorted().joined(separator: " ") }

    /// What is left of this scope when a client asks for `text`: all of it for nil; nil when that is more than
    /// there is, or nothing.
    package func narrowed(to text: String?) -> DemoScope? {
        guard let text else { return self }
        let scope = DemoScope(text)
        return !scope.words.isEmpty && scope.words.isSubset(of: words) ? scope : nil
    }
}
