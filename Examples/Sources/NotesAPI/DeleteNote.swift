import Nautilus

/// Removes a note; one that is gone already counts as removed.
public struct DeleteNote {
    /// The note's number.
    public let id: Int

    /// Asks to remove the note with this number.
    public init(id: Int) {
        self.id = id
    }
}
extension DeleteNote: Request {
    /// Nothing.
    public typealias Result = Void

    /// DELETE.
    public var method: HttpMethod { .delete }
    /// `notes/{id}`.
    public var route: HttpRoute { ["notes", id] }
    /// 404, too: it is what a retry meets when the first attempt worked and its answer was lost.
    public var acceptedStatusCodes: HttpStatusCodes { [.success, 404] }
    /// 10 s: a note is small, and another attempt is better than a long silence.
    public var timeout: Duration? { .seconds(10) }
}
