import DemoServers
import Foundation
import Nautilus

/// Sends a test's requests to a demo server's OAuth endpoints, one attempt each, over a real socket.
struct OAuthWire: HttpService {
    private struct Exchange: Request {
        typealias Result = Data
        let method: HttpMethod
        let route: HttpRoute
        let query: HttpQuery
        let header: HttpHeader
        let body: HttpBody
        // Every answer is one that a test looks at, redirects among them.
        let acceptedStatusCodes = HttpStatusCodes(200...599)
    }

    let server: DemoServer

    var apiUrl: any UrlConvertible { server.origin }

    func get(_ endpoint: OAuthEndpoint, _ query: HttpQuery = [:]) async throws(HttpError) -> ApiAnswer {
        try await send(.get, endpoint, query: query)
    }

    func post(
        _ endpoint: OAuthEndpoint,
        _ form: HttpQuery,
        header: HttpHeader = [:]
    ) async throws(HttpError) -> ApiAnswer {
        try await send(.post, endpoint, header: header, body: .form(form))
    }

    func refresh(_ refreshToken: String) async throws(HttpError) -> ApiAnswer {
        try await post(.token, ["grant_type": "refresh_token", "refresh_token": refreshToken])
    }

    private func send(
        _ method: HttpMethod,
        _ endpoint: OAuthEndpoint,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty
    ) async throws(HttpError) -> ApiAnswer {
        let route = HttpRoute(endpoint.rawValue.split(separator: "/").map(String.init))
        let exchange = Exchange(method: method, route: route, query: query, header: header, body: body)
        let response = try await exchange.response(with: self)
        let fields = response.header.fields.map { ("\($0.name)", $0.value) }
        return ApiAnswer(
            status: response.status,
            header: Dictionary(fields) { first, _ in first },
            body: response.body
        )
    }
}
