/// A note.
public struct Note: Codable, Hashable, Sendable {
    /// Its number, from 1.
    public let id: Int
    /// Its title.
    public let title: String
    /// Its text.
    public let text: String
}

/// A page of the list of notes.
public struct NotePage: Codable, Hashable, Sendable {
    /// The notes, by number.
    public let notes: [Note]
    /// The page's number, from 1.
    public let page: Int
    /// How many pages there are.
    public let pageCount: Int
}
