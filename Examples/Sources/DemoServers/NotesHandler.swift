import FlyingFox
import Foundation

/// Between FlyingFox and the routes: applies faults, holds at barriers, counts in and out.
struct NotesHandler: HTTPHandler {
    let backend: NotesBackend
    let barriers: DemoServer.Barriers

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = try await ApiRequest(request)
        let answer: ApiAnswer?
        if let endpoint = OAuthEndpoint(rawValue: request.path) {
            if endpoint == .token { await barriers.refresh?.pass() }
            answer = await backend.answer(request, at: endpoint)
        } else {
            answer = try await self.answer(request)
            await backend.leave(status: answer?.status)
        }
        return answer.map(HTTPResponse.init) ?? HTTPResponse(webSocket: DroppedConnection())
    }

    /// Nil for no answer at all.
    private func answer(_ request: ApiRequest) async throws -> ApiAnswer? {
        switch await backend.arrive() {
        case .unavailable(let retryAfter):
            let header = retryAfter.map { ["Retry-After": "\($0)"] } ?? [:]
            return .failure(503, "unavailable", header: header)
        case .tooManyRequests(let retryAfter):
            return .failure(429, "too_many_requests", header: ["Retry-After": "\(retryAfter)"])
        case .droppedBeforeHandling:
            return nil
        case .droppedAfterHandling:
            _ = await backend.answer(request)
            return nil
        case .slow(let delay):
            try? await Task.sleep(for: delay)
        case nil:
            break
        }
        let answer = await backend.answer(request)
        if answer.status == 401 { await barriers.unauthorized?.pass() }
        return answer
    }
}

extension ApiRequest {
    fileprivate init(_ request: HTTPRequest) async throws {
        self.init(
            method: request.method.rawValue,
            path: request.path,
            query: FormParameters(request.target.query()),
            authorization: request.headers[.authorization],
            idempotencyKey: request.headers[HTTPHeader("Idempotency-Key")],
            body: try await request.bodyData
        )
    }
}

extension HTTPResponse {
    fileprivate init(_ answer: ApiAnswer) {
        var headers = HTTPHeaders()
        for (name, value) in answer.header { headers.setValues([value], for: HTTPHeader(name)) }
        // On a connection of its own, a request that is dropped is one the client hears of: on a reused one, URL
        // loading would silently send it again, and the counts of client and server would not agree.
        headers.setValues(["close"], for: .connection)
        self.init(statusCode: .named(answer.status), headers: headers, body: answer.body)
    }
}

extension HTTPStatusCode {
    private static let used: [HTTPStatusCode] = [
        .ok, .created, .noContent, .found, .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed,
        .unprocessableContent, .tooManyRequests, .internalServerError, .serviceUnavailable,
    ]

    fileprivate static func named(_ code: Int) -> HTTPStatusCode {
        used.first { $0.code == code } ?? HTTPStatusCode(code, phrase: "Status \(code)")
    }
}
