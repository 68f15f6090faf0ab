/// A request for the page at a cursor, which comes from the page before.
///
/// ```swift
/// struct ListNotes: JsonRequest, CursorPaginatedRequest {
///     typealias Result = NotePage
///     var cursor: String?
///     var route: HttpRoute { ["notes"] }
///     var query: HttpQuery { ["cursor": cursor] }  // nil: left out
///
///     func items(of page: NotePage) -> [Note] { page.notes }
///     func cursor(after page: HttpResponse<NotePage>) -> String? { page.body.nextCursor }
/// }
/// ```
public protocol CursorPaginatedRequest: PaginatedRequest {
    /// The server's name for a place in the list.
    associatedtype Cursor: Sendable

    /// The cursor at which the page begins; nil for the first.
    var cursor: Cursor? { get set }

    /// The cursor at which the next page begins; nil when there is none.
    func cursor(after page: HttpResponse<Result>) -> Cursor?
}

extension CursorPaginatedRequest {
    /// The same request at the next cursor; nil without one.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        cursor(after: page).map(following)
    }

    private func following(_ cursor: Cursor) -> NextPage<Self> {
        var next = self
        next.cursor = cursor
        return .request(next)
    }
}

extension CursorPaginatedRequest where Cursor == String {
    /// The same request at the next cursor; nil without one, and for an empty one, by which many servers mean the end.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        cursor(after: page).flatMap { $0.isEmpty ? nil : following($0) }
    }
}
