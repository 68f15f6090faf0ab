import FlyingFox
import Foundation

/// Between FlyingFox and the routes: applies faults, holds at barriers, counts in and out.
struct NotesHandler: HTTPHandler {
    let backend: NotesBackend
    let barriers: DemoServer.Barriers
    let limit: RequestLimit?
    /// The time on the limit's clock.
    let limitTime: @Sendable () -> Duration

    init(backend: NotesBackend, barriers: DemoServer.Barriers, limit: RequestLimit?) {
        self.backend = backend
        self.barriers = barriers
        self.limit = limit
        let clock: any Clock<Duration> = limit?.clock ?? ContinuousClock()
        self.limitTime = Self.time(of: clock)
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let request = try await ApiRequest(request)
        let answer: ApiAnswer?
        if let endpoint = OAuthEndpoint(rawValue: request.path) {
            if endpoint == .token { await barriers.refresh?.pass() }
            answer = await backend.answer(request, at: endpoint)
            if endpoint == .token { await barriers.rotated?.pass() }
        } else {
            answer = try await limited(request)
            await backend.leave(status: answer?.status)
        }
        return answer.map(HTTPResponse.init) ?? HTTPResponse(webSocket: DroppedConnection())
    }

    private static func time<C: Clock<Duration>>(of clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Applies the limit, which comes before everything else, to a request.
    private func limited(_ request: ApiRequest) async throws -> ApiAnswer? {
        let fault = await backend.arrive()
        guard let limit, let verdict = await backend.limit(request, at: limitTime()) else {
            return try await answer(request, meeting: fault)
        }
        guard verdict.isTaken else { return .failure(limit.status, "too_many_requests", header: verdict.header) }
        if verdict.delay > .zero { try await limit.clock.sleep(for: verdict.delay) }
        var answer = try await answer(request, meeting: fault)
        answer?.header.merge(verdict.header) { own, _ in own }
        return answer
    }

    /// Nil for no answer at all.
    private func answer(_ request: ApiRequest, meeting fault: FaultPlan.Fault?) async throws -> ApiAnswer? {
        switch fault {
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
            client: request.headers[HTTPHeader("X-Client")] ?? "",
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
