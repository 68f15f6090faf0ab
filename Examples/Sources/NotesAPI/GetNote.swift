import Nautilus

/// One note.
public struct GetNote {
    /// The note's number.
    public let id: Int

    /// Asks for the note with this number.
    public init(id: Int) {
        self.id = id
    }
}
extension GetNote: JsonRequest {
    /// The note.
    public typealias Result = Note

    /// `notes/{id}`.
    public var route: HttpRoute { ["notes", id] }
    /// 10 s: a note is small, and another attempt is better than a long silence.
    public var timeout: Duration? { .seconds(10) }
}
