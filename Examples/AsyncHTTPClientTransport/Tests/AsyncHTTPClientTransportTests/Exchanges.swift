import AsyncHTTPClientTransport
import Foundation
import Nautilus
import ScriptedSockets

/// Sends one request with a transport of its own, or with the given one.
func send(
    _ method: HttpMethod = .get,
    _ url: URL,
    header: HttpHeader = [:],
    body: HttpBody.Payload = .empty,
    through transport: AsyncHTTPClientTransport = AsyncHTTPClientTransport()
) async throws -> HttpResponse<Data> {
    let request = HttpRequest(method: method, url: url, header: header, body: body)
    return try await transport.send(request, context: context(of: url))
}

/// Sends one request, and returns its response before the body.
func stream(
    _ method: HttpMethod = .get,
    _ url: URL,
    body: HttpBody.Payload = .empty,
    through transport: AsyncHTTPClientTransport = AsyncHTTPClientTransport()
) async throws -> HttpResponse<HttpBodyStream> {
    try await transport.stream(HttpRequest(method: method, url: url, body: body), context: context(of: url))
}

/// A first attempt at `url`.
func context(of url: URL) throws -> AttemptContext {
    guard let origin = HttpOrigin(url) else { throw URLError(.badURL) }
    return AttemptContext(serviceOrigin: origin)
}

/// The error of `body`, code and delivery only.
func failure(of body: () async throws -> HttpResponse<Data>) async throws -> Failure? {
    do {
        _ = try await body()
        return nil
    } catch let TransportError.failed(code, delivery, _) {
        return Failure(code: code, delivery: delivery)
    }
}

/// What is asserted of an error: its text is for people.
struct Failure: Equatable {
    let code: URLError.Code
    let delivery: Delivery
}

/// The whole of a streamed body as text.
func text(_ body: HttpBodyStream) async throws -> String {
    String(decoding: try await body.collected(limit: .max), as: UTF8.self)
}
