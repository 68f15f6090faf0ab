/// A request for a page by its number, the next of which is one higher.
///
/// ```swift
/// struct ListNotes: JsonRequest, NumberPaginatedRequest {
///     typealias Result = [Note]
///     var page = 1
///     var route: HttpRoute { ["notes"] }
///     var query: HttpQuery { ["page": page] }
/// }
/// ```
public protocol NumberPaginatedRequest: PaginatedRequest {
    /// The number of the page that is asked for; whether the first is 0 or 1 is the server's choice.
    var page: Int { get set }

    /// Whether no page comes after this one. Default: whether it is empty, since that is what servers answer behind the
    /// last. Where the page says how many there are, compare with that: it saves the request for the empty one.
    func isLast(_ page: HttpResponse<Result>) -> Bool
}

extension NumberPaginatedRequest {
    /// Whether the page is empty.
    public func isLast(_ page: HttpResponse<Result>) -> Bool { items(of: page.body).isEmpty }

    /// The same request for the next number, unless the page was the last.
    public func next(after page: HttpResponse<Result>) -> NextPage<Self>? {
        guard !isLast(page) else { return nil }
        let (number, isTooLarge) = self.page.addingReportingOverflow(1)
        guard !isTooLarge else { return nil }
        var next = self
        next.page = number
        return .request(next)
    }
}
