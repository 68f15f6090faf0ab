import Nautilus

/// A request for one page of many, whose response tells how to ask for the next page: by ``Pagination``.
/// ```swift
/// struct FindNotes { var cursor: String? }
/// extension FindNotes: JsonRequest, PaginatedRequest {
///     typealias Result = NotePage
///     var route: HttpRoute { ["notes"] }
///     var query: HttpQuery { ["cursor": cursor] }  // nil: left out
///
///     func items(of page: NotePage) -> [Note] { page.notes }
///     var pagination: Pagination<Self> { .cursor(\.cursor) { $0.body.nextCursor } }
/// }
/// ```
public protocol PaginatedRequest: Request {
    /// An item of a page.
    associatedtype Item: Sendable

    /// Returns the items of a page, in order; empty if there are none. An empty page is not the end of the list, which
    /// only ``pagination`` tells.
    func items(of page: Result) -> [Item]

    /// How to ask for the page after this request's own: by number, by cursor, by link, or in a way of your own.
    var pagination: Pagination<Self> { get }
}

extension PaginatedRequest where Result: Sequence, Result.Element: Sendable {
    /// The page's own elements.
    public func items(of page: Result) -> [Result.Element] { Array(page) }
}

extension PaginatedRequest {
    /// The pages from this one on, each fetched by a call when it is waited for.
    ///
    /// - Parameters:
    ///   - service: Where the calls go.
    ///   - pageLimit: The most pages to fetch; the sequence ends after them. Default: nil, all pages.
    ///   - prefetching: Whether the next page is fetched while a page is being read: never more than one page ahead,
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

    /// The items of all pages from this one on. Each page is fetched by a call when its first item is waited for.
    ///
    /// - Parameters:
    ///   - service: Where the calls go.
    ///   - pageLimit: The most pages to fetch; the sequence ends after them. Default: nil, all pages.
    ///   - prefetching: Whether the next page is fetched while the items of a page are being read: never more than one
    ///     page ahead, and cancelled when the reader leaves. Default: false, so that a reader who needs one page costs
    ///     one request.
    public func items<S: HttpService>(
        with service: S,
        pageLimit: Int? = nil,
        prefetching: Bool = false
    ) -> ItemSequence<Item, S.RequestError> {
        ItemSequence(pages: pages(with: service, pageLimit: pageLimit, prefetching: prefetching))
    }
}

/// How to ask for the next page.
public enum NextPage<R: Request>: Sendable {
    /// By a request of its own, with another number or another cursor.
    case request(R)
    /// By the same request at a URL that the server has named, absolute or relative to the page's URL. It replaces base
    /// URL, route and query.
    ///
    /// On another origin it is requested without credentials, as after a redirect. It must not lead from `https` to
    /// `http`.
    case link(String)
}

extension NextPage: Redacted {
    /// The kind, without the link, which may contain a token, and without the request.
    public var description: String {
        switch self {
        case .request: "the next request"
        case .link: "the next link"
        }
    }
}

/// Why there is no next page although the server names one. It is the underlying error of the `HttpError` that is
/// thrown.
public enum PaginationError: PrintableError, Hashable {
    /// The page of this number, from 1, leads back to a page that has been read before.
    ///
    /// Pages are the same if the method, URL, header and body of their requests are the same. A loop of up to 1024
    /// pages is found at its first repetition, a longer one before its pages have been read three times.
    case loop(page: Int)
    /// The page of this number, from 1, has a link that is not an `http` or `https` URL.
    case invalidLink(page: Int)
    /// The page of this number, from 1, came by `https` and leads to `http`.
    case insecureLink(page: Int)
    /// A page's `Link` fields have no link of this relation that can be read (RFC 8288), and one that cannot: the list
    /// does not end here.
    case unreadableLink(relation: String)
    /// This many pages in a row had no items.
    case onlyEmptyPages(count: Int)

    /// A description of the failure, and what to do about it.
    public var description: String {
        switch self {
        case .loop(let page):
            "Page \(page) leads back to one that was read before, so reading on would never end; "
                + "check that its pagination takes the place of the next page from the response, not from the request, "
                + "or report it to those who run the server."
        case .invalidLink(let page):
            "Page \(page) leads to something that is no http or https URL; check where its link is read."
        case .insecureLink(let page):
            "Page \(page) came by https and leads to http; have the server name its public URL, "
                + "as behind a proxy that ends TLS, or ask for pages by number or cursor."
        case .unreadableLink(let relation):
            "The page's link \(relation) cannot be read, so the list would end too early; have the server write "
                + "Link: <URL>; rel=\"\(relation)\", or read the page's field in a custom pagination."
        case .onlyEmptyPages(let count):
            "\(count) pages in a row have held nothing, and there are more; read pages(with:), which shows each of them, "
                + "or check that items(of:) finds what a page holds."
        }
    }
}
