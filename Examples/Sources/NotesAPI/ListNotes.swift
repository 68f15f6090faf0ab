import Nautilus
import NautilusPages

/// One page of all notes, and with `items(with:)` all notes.
public struct ListNotes {
    /// The page's number, from 1.
    public var page: Int

    /// Asks for a page. Default: the first.
    public init(page: Int = 1) {
        self.page = page
    }
}
extension ListNotes: JsonRequest, PaginatedRequest {
    /// A page.
    public typealias Result = NotePage

    /// `notes`.
    public var route: HttpRoute { ["notes"] }
    /// `page`.
    public var query: HttpQuery { ["page": page] }
    /// The server writes `page_count`.
    public var usesSnakeCase: Bool { true }
    /// 10 s: a note is small, and another attempt is better than a long silence.
    public var timeout: Duration? { .seconds(10) }

    /// The page's notes.
    public func items(of page: NotePage) -> [Note] { page.notes }
    /// By number, up to the last page that the server names.
    public var pagination: Pagination<Self> { .number(\.page) { page >= $0.body.pageCount } }
}
