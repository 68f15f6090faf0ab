/// A text that is never printed.
struct Secret: Sendable {
    /// The text, to be sent.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Whether `other` is the same text, compared in a time that does not tell how much of it is.
    func matches(_ other: String) -> Bool {
        let (own, other) = (Array(text.utf8), Array(other.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of the text.
    var description: String { "‹redacted›" }
    /// Nothing of the text.
    var debugDescription: String { description }
    /// Nothing of the text.
    var customMirror: Mirror { Mirror(self, children: []) }
}
