/// The scope of a token (RFC 6749 §3.3): words without an order.
public struct DemoScope: Hashable, Sendable, CustomStringConvertible {
    /// Needed to create and to delete notes. Any token is enough to read them.
    public static let write = "notes.write"
    /// The scope of a token whose client asked for no smaller one.
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

    /// The part of this scope that is granted when a client asks for `text`: all of it for nil; nil when that is more than
    /// there is, or nothing.
    package func narrowed(to text: String?) -> DemoScope? {
        guard let text else { return self }
        let scope = DemoScope(text)
        return !scope.words.isEmpty && scope.words.isSubset(of: words) ? scope : nil
    }
}
