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

extension PaginatedRequest {
    /// The pages from this one on, one call each, as they are waited for.
    ///
    /// - Parameters:
    ///   - service: Where the calls go.
    ///   - pageLimit: The most pages that are asked for; the sequence ends with them. Default: nil, all there are.
    ///   - prefetching: Whether the next page's call is made while a page is being read: one page ahead, never more,
    ///     and cancelled when the reader leaves. Default: false, so that a reader who needs one page costs one request.
    public func pages<S: HttpService>(
        with service: S,
        pageLimit: Int? = nil,
        prefetching: Bool = false
    ) -> PageSequence<Self, S.RequestError> {
        PageSequence(
            first: self,
            service: AnyHttpService(service),
            limit: pageLimit,
            isPrefetching: prefetching
        )
    }

    /// The items of all pages from this one on, one call for each page, made when its first item is waited for.
    ///
    /// - Parameters:
    ///   - service: Where the calls go.
    ///   - pageLimit: The most pages that are asked for; the sequence ends with them. Default: nil, all there are.
    ///   - prefetching: Whether the next page's call is made while the items of a page are being read: one page ahead,
    ///     never more, and cancelled when the reader leaves. Default: false, so that a reader who needs one page costs
    ///     one request.
    public func items<S: HttpService>(
        with service: S,
        pageLimit: Int? = nil,
        prefetching: Bool = false
    ) -> ItemSequence<Self, S.RequestError> {
        ItemSequence(pages: pages(with: service, pageLimit: pageLimit, prefetching: prefetching))
    }
}

/// How the page after another one is asked for.
public enum NextPage<R: Request>: Sendable {
    /// With a request of its own: another number, another cursor.
    case request(R)
    /// With the same request at a URL that the server has named, absolute or relative to the page's; the URL takes the
    /// place of base URL, route and query.
    ///
    /// On another origin it is asked for without credentials, as a redirect would be. It must not lead from `https` to
    /// `http`.
    case link(String)
}

extension NextPage: Redacted {
    /// The kind of page, without the link, in which a token may be, and without the request.
    public var description: String {
        switch self {
        case .request: "the next request"
        case .link: "the next link"
        }
    }
}

/// Why there is no next page although the server names one. It lies underneath the `HttpError` that surfaces.
public enum PaginationError: PrintableError, Hashable {
    /// The page of this number, from 1, leads back to one that has been read before.
    ///
    /// Pages are the same when method, URL, the request's header and its body are. A circle of up to 1024 pages is
    /// found at its first repetition, a longer one before its pages have been read three times.
    case loop(page: Int)
    /// The page of this number, from 1, has a link that is no `http` or `https` URL.
    case invalidLink(page: Int)
    /// The page of this number, from 1, came by `https` and leads to `http`.
    case insecureLink(page: Int)
    /// This many pages in a row held nothing.
    case onlyEmptyPages(count: Int)

    /// A description of the failure, and what to do about it.
    public var description: String {
        switch self {
        case .loop(let page):
            "Page \(page) leads back to one that was read before, so reading on would never end; "
                + "check that next(after:) takes the place of the next page from the response, not from the request, "
                + "or report it to those who run the server."
        case .invalidLink(let page):
            "Page \(page) leads to something that is no http or https URL; check where its link is read."
        case .insecureLink(let page):
            "Page \(page) came by https and leads to http; have the server name its public URL, "
                + "as behind a proxy that ends TLS, or ask for pages by number or cursor."
        case .onlyEmptyPages(let count):
            "\(count) pages in a row have held nothing, and there are more; read pages(with:), which shows each of them, "
                + "or check that items(of:) finds what a page holds."
        }
    }
}
