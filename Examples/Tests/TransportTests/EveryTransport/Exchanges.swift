import Foundation
import Nautilus
import ScriptedSockets

/// Sends one request with a transport of its own, or with the given one.
func send(
    _ method: HttpMethod = .get,
    _ url: URL,
    header: HttpHeader = [:],
    body: HttpBody.Payload = .empty,
    through transport: any HttpTransport = TransportUnderTest.make()
) async throws -> HttpResponse<Data> {
    let request = HttpRequest(method: method, url: url, header: header, body: body)
    return try await transport.send(request, context: TransportContext())
}

/// Sends one request, and returns its response before the body.
func stream(
    _ method: HttpMethod = .get,
    _ url: URL,
    body: HttpBody.Payload = .empty,
    through transport: any HttpTransport = TransportUnderTest.make()
) async throws -> HttpResponse<HttpBodyStream> {
    try await transport.stream(HttpRequest(method: method, url: url, body: body), context: TransportContext())
}

/// Sends a GET to a server that answers the first request with `bytes` and then closes the connection.
func answer(_ bytes: String, _ method: HttpMethod = .get) async throws -> HttpResponse<Data> {
    try await answer(Data(bytes.utf8), method)
}

/// Sends a GET to a server that answers the first request with `bytes` and then closes the connection.
func answer(_ bytes: Data, _ method: HttpMethod = .get) async throws -> HttpResponse<Data> {
    try await ScriptedServer.run { connection in
        _ = try await connection.readRequest()
        try await connection.write(bytes)
    } whileOpen: { server in
        try await send(method, server.url)
    }
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

/// The asserted part of an error: its text is for people.
struct Failure: Equatable {
    let code: URLError.Code
    let delivery: Delivery

    static let connectionLost = Failure(code: .networkConnectionLost, delivery: .maybeExecuted)
    static let badResponse = Failure(code: .badServerResponse, delivery: .maybeExecuted)
}

extension HttpResponse<Data> {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}

extension HttpBodyStream {
    /// The whole of it as text.
    var text: String {
        get async throws { String(decoding: try await collected(limit: .max), as: UTF8.self) }
    }
}
