import Nautilus

/// How a ``PaginatedRequest`` asks for the next page.
///
/// ```swift
/// var pagination: Pagination<Self> { .number(\.page) }
/// ```
public struct Pagination<R: PaginatedRequest> {
    /// The page after that of a request; nil after the last one.
    let next: (_ request: R, _ page: HttpResponse<R.Result>) throws -> NextPage<R>?

    /// By the page's number, which is one higher for the next page.
    ///
    /// - Parameters:
    ///   - number: The property with the number of the page that is asked for; whether the first is 0 or 1 is the
    ///     server's choice.
    ///   - isLast: Whether no page comes after this one. Default: whether the page is empty, which is what servers
    ///     answer after the last page. If the page tells how many there are, compare with that, which saves the request
    ///     for the empty page.
    public static func number(
        _ number: WritableKeyPath<R, Int>,
        isLast: ((HttpResponse<R.Result>) -> Bool)? = nil
    ) -> Self {
        Pagination { request, page in
            guard !(isLast?(page) ?? request.items(of: page.body).isEmpty) else { return nil }
            let (following, isTooLarge) = request[keyPath: number].addingReportingOverflow(1)
            guard !isTooLarge else { return nil }
            var next = request
            next[keyPath: number] = following
            return .request(next)
        }
    }

    /// By a cursor, the server's name for a place in the list, which the previous page names.
    ///
    /// ```swift
    /// var pagination: Pagination<Self> { .cursor(\.cursor) { $0.body.nextCursor } }
    /// ```
    /// - Parameters:
    ///   - cursor: The property with the cursor at which the page begins; nil for the first.
    ///   - next: The cursor at which the next page begins; nil when there is none. An empty string, by which many
    ///     servers mean the end, counts as nil.
    public static func cursor<Cursor>(
        _ cursor: WritableKeyPath<R, Cursor?>,
        next: @escaping (HttpResponse<R.Result>) -> Cursor?
    ) -> Self {
        Pagination { request, page in
            guard let following = next(page), (following as? String)?.isEmpty != true else { return nil }
            var next = request
            next[keyPath: cursor] = following
            return .request(next)
        }
    }

    /// By the URL in the response's field `Link: <…>; rel="next"` (RFC 8288): the first link of that relation. An
    /// unreadable one ends the list with ``PaginationError/unreadableLink(relation:)``.
    ///
    /// - Parameter relation: The relation of the link that is followed. Default: `next`; `prev` reads a list backwards.
    public static func link(_ relation: String = "next") -> Self {
        Pagination { _, page in
            if let target = page.header.link(relation) { return .link(target) }
            // Taken for the last page, the list would end too early, and nobody would know.
            guard !page.header.hasUnreadableLink(relation) else {
                throw PaginationError.unreadableLink(relation: relation)
            }
            return nil
        }
    }

    /// In any other way.
    ///
    /// - Parameter next: Tells how to ask for the next page; nil if this is the last one. Called once for each page, on
    ///   the request that the page answers. An error is thrown in place of the next page, with kind `custom`.
    public static func custom(_ next: @escaping (HttpResponse<R.Result>) throws -> NextPage<R>?) -> Self {
        Pagination { _, page in try next(page) }
    }
}
