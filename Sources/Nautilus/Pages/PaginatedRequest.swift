/// A request for one page of many, whose response tells how to ask for the page after it.
///
/// ```swift
/// struct FindNotes: JsonRequest, PaginatedRequest {
///     typealias Result = NotePage
///     var offset = 0
///     var route: HttpRoute { ["notes"] }
///     var query: HttpQuery { ["offset": offset] }
///
///     func items(of page: NotePage) -> [Note] { page.notes }
///     func next(after page: HttpResponse<NotePage>) -> NextPage<Self>? {
///         page.body.isLast ? nil : .request(FindNotes(offset: offset + page.body.notes.count))
///     }
/// }
/// for try await note in FindNotes().items(with: service) { … }
/// ```
/// For the usual ways of asking there is less to write: ``NumberPaginatedRequest``, ``CursorPaginatedRequest`` and
/// ``LinkPaginatedRequest``.
public protocol PaginatedRequest: Request {
    /// An item of a page.
    associatedtype Item: Sendable

    /// The items of a page, in order; empty when it holds none. An empty page is not the end: only ``next(after:)``
    /// says where that is.
    func items(of page: Result) -> [Item]

    /// How to ask for the page after this request's own; nil when that is the last.
    ///
    /// Asked once for each page, of the request that the page answers.
    ///
    /// - Parameter page: The response, with its header.
    /// - Throws: Any error; it surfaces in place of the next page, of kind `custom`.
    func next(after page: HttpResponse<Result>) throws -> NextPage<Self>?
}

extension PaginatedRequest where Result: Sequence, Result.Element: Sendable {
    /// The page's own elements.
    public func items(of page: Result) -> [Result.Element] { Array(page) }
}
