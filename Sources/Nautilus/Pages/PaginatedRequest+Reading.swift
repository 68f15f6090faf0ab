extension PaginatedRequest {
    /// The pages from this one on, one call each, as they are waited for.
    ///
    /// - Parameters:
    ///   - service: Where the calls go.
    ///   - pageLimit: The most pages that are asked for; the sequence ends with them. Default: nil, all there are.
    ///   - prefetching: Whether the next page's call is made while a page is being read: one page ahead, never more, and
    ///     cancelled when the reader leaves. Default: false, so that a reader who needs one page costs one request.
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
    ///     never more, and cancelled when the reader leaves. Default: false, so that a reader who needs one page costs one
    ///     request.
    public func items<S: HttpService>(
        with service: S,
        pageLimit: Int? = nil,
        prefetching: Bool = false
    ) -> ItemSequence<Self, S.RequestError> {
        ItemSequence(pages: pages(with: service, pageLimit: pageLimit, prefetching: prefetching))
    }
}
