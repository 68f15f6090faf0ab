import FlyingFox
import Foundation

/// Between FlyingFox and the routes: applies faults, holds at barriers, counts in and out.
struct NotesHandler: HTTPHandler {
    let backend: NotesBackend
    let barriers: DemoServer.Barriers

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = try await ApiRequest(request)
        guard request.path != TokenRoute.path else {
            await barriers.refresh?.pass()
            return HTTPResponse(await backend.refresh(request))
        }
        let answer = try await answer(request)
        await backend.leave(status: answer?.status)
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
        let query = request.query.map { ($0.name, $0.value) }
        self.init(
            method: request.method.rawValue,
            path: request.path,
            query: Dictionary(query) { first, _ in first },
            bearer: Self.bearer(in: request.headers[.authorization]),
            idempotencyKey: request.headers[HTTPHeader("Idempotency-Key")],
            body: try await request.bodyData
        )
    }

    private static func bearer(in authorization: String?) -> String? {
        let words = authorization?.split(separator: " ", maxSplits: 1) ?? []
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
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
        .ok, .created, .noContent, .badRequest, .unauthorized, .notFound, .methodNotAllowed, .unprocessableContent,
        .tooManyRequests, .serviceUnavailable,
    ]

    fileprivate static func named(_ code: Int) -> HTTPStatusCode {
        used.first { $0.code == code } ?? HTTPStatusCode(code, phrase: "Status \(code)")
    }
}
