import Nautilus

/// A request for a page by its number, which is one higher for the next page.
///
/// ```swift
/// struct ListNotes {
///     var page = 1
/// }
/// extension ListNotes: JsonRequest, NumberPaginatedRequest {
///     typealias Result = [Note]
///     var route: HttpRoute { ["notes"] }
///     var query: HttpQuery { ["page": page] }
/// }
/// ```
public protocol NumberPaginatedRequest: PaginatedRequest {
    /// The number of the page that is asked for; whether the first is 0 or 1 is the server's choice.
    var page: Int { get set }

    /// Whether no page comes after this one. Default: whether the page is empty, which is what servers answer after the
    /// last page. If the page tells how many there are, compare with that, which saves the request for the empty page.
    func isLast(_ page: HttpResponse<Result>) -> Bool
}

extension NumberPaginatedRequest {
    /// Whether the page is empty.
    public func isLast(_ page: HttpResponse<Result>) -> Bool { items(of: page.body).isEmpty }

    /// The same request with the next number, unless the page was the last.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        guard !isLast(page) else { return nil }
        let (number, isTooLarge) = self.page.addingReportingOverflow(1)
        guard !isTooLarge else { return nil }
        var next = self
        next.page = number
        return .request(next)
    }
}

/// A request for the page at a cursor, which the previous page names.
///
/// ```swift
/// extension ListNotes: JsonRequest, CursorPaginatedRequest {
///     typealias Result = NotePage
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
    /// The same request at the next cursor; nil without one, or if the cursor is empty, by which many servers mean the
    /// end.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        cursor(after: page).flatMap { $0.isEmpty ? nil : following($0) }
    }
}

/// A request whose response names the next page's URL in a field `Link: <…>; rel="next"` (RFC 8288).
///
/// ```swift
/// struct ListNotes {}
/// extension ListNotes: JsonRequest, LinkPaginatedRequest {
///     typealias Result = [Note]
///     var route: HttpRoute { ["notes"] }
/// }
/// ```
/// For a URL in the body, write a ``PaginatedRequest`` that returns ``NextPage/link(_:)``.
public protocol LinkPaginatedRequest: PaginatedRequest {
    /// The relation of the link that is followed. Default: `next`; `prev` reads a list backwards.
    var linkRelation: String { get }
}

extension LinkPaginatedRequest {
    /// `next`.
    public var linkRelation: String { "next" }

    /// The first link of that relation; nil without one.
    ///
    /// - Throws: ``PaginationError/unreadableLink(relation:)``.
    public func next(after page: HttpResponse<Result>) throws -> NextPage<Self>? {
        if let target = page.header.link(linkRelation) { return .link(target) }
        // Taken for the last page, the list would end too early, and nobody would know.
        guard !page.header.hasUnreadableLink(linkRelation) else {
            throw PaginationError.unreadableLink(relation: linkRelation)
        }
        return nil
    }
}
