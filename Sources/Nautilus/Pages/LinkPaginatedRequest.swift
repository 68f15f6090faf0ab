/// A request whose response names the next page's URL in a field `Link: <…>; rel="next"` (RFC 8288).
///
/// ```swift
/// struct ListNotes: JsonRequest, LinkPaginatedRequest {
///     typealias Result = [Note]
///     var route: HttpRoute { ["notes"] }
/// }
/// ```
/// For a URL in the body, write a ``PaginatedRequest`` that returns ``NextPage/link(_:)``.
public protocol LinkPaginatedRequest: PaginatedRequest {}

extension LinkPaginatedRequest {
    /// The first link of relation `next`; nil without one.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        page.header.link("next").map { .link($0) }
    }
}
