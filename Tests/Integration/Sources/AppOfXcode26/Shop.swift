import Foundation
import Nautilus

// An API as an app declares it. Models, requests and services say `nonisolated`; the guide tells why.

nonisolated struct Product: Codable, Equatable, Sendable { let id: Int, name: String }

nonisolated struct GetProduct {
    let id: Int
}
nonisolated extension GetProduct: JsonRequest {
    typealias Result = Product
    var route: HttpRoute { ["products", id] }
}

nonisolated struct AddProduct {
    struct Draft: Encodable, Sendable { let name: String }
    let draft: Draft
    let idempotencyKey = UUID().uuidString
}
nonisolated extension AddProduct: JsonRequest {
    typealias Result = Product
    var method: HttpMethod { .post }
    var route: HttpRoute { ["products"] }
    var header: HttpHeader { [.idempotencyKey: idempotencyKey] }
    var body: HttpBody { .json(draft) }
}

nonisolated struct ShopService {
    let transport: any HttpTransport
    let observer: any CallObserver
}
nonisolated extension ShopService: HttpService {
    var apiUrl: any UrlConvertible { "shop.example.com" }
    var interceptors: [any HttpInterceptor] { [RequestId()] }
    var retrierFactory: any RetrierFactory { OnceMoreFactory() }

    func mapError(_ error: HttpError) -> ShopError {
        error.status == 404 ? .soldOut : .other(error)
    }
}

enum ShopError: Error {
    case soldOut
    case other(HttpError)
}

struct RequestId: NetworkInterceptor {
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        request.header["X-Request-Id"] = "attempt-\(context.number)"
        return try await next(request)
    }
}

struct OnceMore: Retrier {
    private var hasRetried = false

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        if hasRetried { return .doNotRetry }
        hasRetried = true
        return .retry(after: .zero)
    }
}

struct OnceMoreFactory: RetrierFactory {
    func create<R: Request>(for request: R) -> any Retrier { OnceMore() }
}

struct AttemptLog: CallObserver {
    let lines: AsyncStream<String>.Continuation

    func observe(_ event: CallEvent) {
        if case .attemptEnded(_, let attempt) = event { lines.yield("#\(attempt.number) ended") }
    }
}
