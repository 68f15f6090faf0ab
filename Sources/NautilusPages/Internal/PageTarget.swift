import Foundation
import Nautilus

/// The way to fetch a page: a request that the author has made, or a URL that the server has named.
enum PageTarget<R: PaginatedRequest>: Sendable {
    case request(R)
    case link(LinkedRequest<R>)

    /// The request that the page belongs to, which tells what follows the page.
    var request: R {
        switch self {
        case .request(let request): request
        case .link(let linked): linked.base
        }
    }

    /// Fetches the page, by a call of its own.
    ///
    /// - Parameter calls: The call that all pages of the list continue.
    func response<S: HttpService>(
        with service: S,
        continuing calls: CallBinding<R>
    ) async throws(S.RequestError) -> HttpResponse<R.Result> {
        switch self {
        case .request(let request):
            try await calls.continued(with: request).run(for: service)
        case .link(let linked):
            try await calls.continued(with: linked, by: service.configuration.derived(from: linked.base))
                .run(for: service)
        }
    }

    /// A hash that tells this page from others, made from everything in which a cursor may be. Nil for a request that
    /// cannot be built, whose call reports why, and for a request with a streamed body, which is not examined.
    func identity<S: HttpService>(with service: S) -> Int? {
        switch self {
        case .request(let request): Self.identity(of: request, with: service)
        case .link(let linked): Self.identity(of: linked, with: service)
        }
    }

    /// The target to which `next` leads from this page.
    ///
    /// - Parameter number: This page's number, for the error.
    /// - Throws: ``PaginationError``; `HttpRequest.Invalid` if this page's own URL cannot be built.
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
            // Over plain `http`, anybody could read the cursor in the link, and the page.
            guard HttpOrigin(place)?.scheme != "https" || origin.scheme == "https" else {
                throw PaginationError.insecureLink(page: number)
            }
            // The server has chosen where the link leads, not the author of the request.
            return .link(LinkedRequest(base: request, target: target, isTrusted: origin == own.origin))
        }
    }

    /// The requested URL, for a response that did not come from the network.
    private func placeAsked<S: HttpService>(with service: S) throws(HttpRequest.Invalid) -> URL {
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

/// The request for a page at a URL that the server has named, in a header or in the page before.
struct LinkedRequest<Base: Request>: ForwardingRequest, ServerNamedRequest {
    typealias Result = Base.Result

    let base: Base
    let target: URL
    /// Whether the base request's own credentials may be sent to the target.
    let isTrusted: Bool

    var forwarded: any Request { base }

    var url: (any UrlConvertible)? { target }
    // Secrets of the base's route are hidden in the server's URL, too.
    var route: HttpRoute { HttpRoute([], secrets: base.route.secrets, trailingSlash: false) }
    var query: HttpQuery { [:] }
    // The builder leaves out the service's fields by itself, but would take the request's own fields for deliberate.
    var header: HttpHeader { isTrusted ? base.header : base.header.crossingOrigins(with: base.method) }

    func decode(_ data: Data) throws -> Base.Result { try base.decode(data) }
    func decode(_ response: HttpResponse<Data>) throws -> Base.Result { try base.decode(response) }
    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Base.Result {
        try await base.decode(response)
    }
}

extension Request {
    fileprivate func baseUrl(with service: some HttpService) throws(HttpRequest.Invalid) -> BaseUrl {
        let configuration = service.configuration
        return try BaseUrlMemo.shared.base(
            url ?? configuration.apiUrl,
            isSecure: usesSecureProtocol ?? configuration.usesSecureProtocol
        )
    }

    fileprivate func builtUrl(with service: some HttpService) throws(HttpRequest.Invalid) -> URL {
        try baseUrl(with: service).appending(route, query: query)
    }
}

extension URL {
    /// The URL without its fragment, which is not sent and makes no difference.
    fileprivate var withoutFragment: URL? { URL(string: String(absoluteString.prefix { $0 != "#" })) }
}
