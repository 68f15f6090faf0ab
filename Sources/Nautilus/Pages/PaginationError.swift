/// Why there is no next page although the server names one. It lies underneath the `HttpError` that surfaces.
public enum PaginationError: PrintableError, Hashable {
    /// The page of this number, from 1, leads back to one that has been read before.
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
