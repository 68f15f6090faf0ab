import Foundation

/// The target of a page: a request of the user's, or a URL that the server has named.
enum PageTarget<R: PaginatedRequest>: Sendable {
    case request(R)
    case link(LinkedRequest<R>)

    /// The request that the page belongs to, which says what follows it.
    var request: R {
        switch self {
        case .request(let request): request
        case .link(let linked): linked.base
        }
    }

    /// A call of its own for the page.
    ///
    /// - Parameter sequence: The calls for all pages of the list.
    func response<S: HttpService>(
        with service: S,
        in sequence: CallSequence
    ) async throws(S.RequestError) -> HttpResponse<R.Result> {
        switch self {
        case .request(let request): try await request.response(with: service, in: sequence)
        case .link(let linked):
            try await linked.response(with: DerivedService(service: service, base: linked.base), in: sequence)
        }
    }

    /// A hash that tells this page from others, of all that a cursor may be hidden in. Nil for a request that cannot be
    /// built, whose call says why, and for one that streams its body, which is not examined.
    func identity<S: HttpService>(with service: S) -> Int? {
        switch self {
        case .request(let request): Self.identity(of: request, with: service)
        case .link(let linked): Self.identity(of: linked, with: service)
        }
    }

    /// The target that `next` leads to from this page.
    ///
    /// - Parameter number: This page's, for the error.
    /// - Throws: ``PaginationError``; ``InvalidRequest`` when not even the page itself is at a URL.
    func following<S: HttpService>(
        _ next: NextPage<R>,
        after page: HttpResponse<R.Result>,
        number: Int,
        with service: S
    ) throws -> PageTarget {
        switch next {
        case .request(let request): return .request(request)
        case .link(let link):
            let own = try request.baseUrl(with: service)
            let place = try page.url ?? placeAsked(with: service)
            guard let target = URL(string: link.urlReference, relativeTo: place)?.absoluteURL.withoutFragment,
                let origin = HttpOrigin(target), origin.scheme == "http" || origin.scheme == "https"
            else { throw PaginationError.invalidLink(page: number) }
            // Anybody could read the cursor in it, and the page.
            guard HttpOrigin(place)?.scheme != "https" || origin.scheme == "https" else {
                throw PaginationError.insecureLink(page: number)
            }
            // The server has chosen where it leads, not the author of the request.
            return .link(LinkedRequest(base: request, target: target, isTrusted: origin == own.origin))
        }
    }

    /// The requested URL, for a response that did not come over the wire.
    private func placeAsked<S: HttpService>(with service: S) throws(InvalidRequest) -> URL {
        switch self {
        case .request(let request): try request.builtUrl(with: service)
        case .link(let linked): linked.target
        }
    }

    private static func identity(of request: some Request, with service: some HttpService) -> Int? {
        guard let url = try? request.builtUrl(with: service),
            let body = try? request.body.payload({ request.encoder })
        else { return nil }
        var hasher = Hasher()
        hasher.combine(request.method)
        hasher.combine(url.absoluteString)
        hasher.combine(request.header)
        switch body {
        case .empty: break
        case .data(let data): hasher.combine(data)
        case .stream: return nil
        }
        return hasher.finalize()
    }
}

extension Request {
    fileprivate func baseUrl(with service: some HttpService) throws(InvalidRequest) -> BaseUrl {
        try BaseUrlMemo.shared.base(
            url ?? service.apiUrl,
            isSecure: usesSecureProtocol ?? service.usesSecureProtocol
        )
    }

    fileprivate func builtUrl(with service: some HttpService) throws(InvalidRequest) -> URL {
        try baseUrl(with: service).appending(route, query: query)
    }
}

extension URL {
    /// The URL without its fragment, which is not sent and does not make it another place.
    fileprivate var withoutFragment: URL? { URL(string: String(absoluteString.prefix { $0 != "#" })) }
}
