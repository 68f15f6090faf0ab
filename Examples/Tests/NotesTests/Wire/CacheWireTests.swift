import Foundation
import Nautilus
import NautilusCaching
import NautilusTesting
import NautilusURLSession
import Testing

@Suite("Caching over real sockets", .timeLimit(.minutes(10)))
struct CacheWireTests {
    private static let note = #"{"id":7}"#

    /// The bytes at a path.
    private struct Get: Request, Hashable {
        typealias Result = String
        var header: HttpHeader { ["Accept": "application/json"] }
        var route: HttpRoute { ["notes", 7] }
    }

    private static func service(
        _ server: StubServer,
        _ interceptors: [any HttpInterceptor]
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(apiUrl: server.origin, interceptors: interceptors, transport: URLSessionTransport.wide)
    }

    @Test("a note is asked for, served from memory, then validated by its tag: two requests for four calls")
    func validation() async throws {
        let fresh = ["Cache-Control": "max-age=60", "ETag": "\"7\"", "Set-Cookie": "id=secret"]
        let server = try await StubServer.start { request, _ in
            request.ifNoneMatch == "\"7\"" ? .status(304, header: fresh) : .status(200, header: fresh, json: Self.note)
        }
        let clock = ManualClock()
        let start = Date()
        let cache = HttpCache(wallClock: { start + Double(clock.now.offset.components.seconds) })
        let service = Self.service(server, [cache])
        var sources: [CallTrace.Source?] = []
        for _ in 1...2 {
            for _ in 1...2 {
                let response = try await Get().response(with: service)
                #expect((response.status, response.body) == (200, Self.note))
                sources.append(response.trace.attempts.last?.source)
            }
            clock.advance(by: .seconds(60))
        }
        let remembered = CallTrace.Source.interceptor(serverStatus: nil)
        #expect(sources == [.server, remembered, .interceptor(serverStatus: 304), remembered])
        #expect(await server.requests.map(\.ifNoneMatch) == [nil, "\"7\""])
        await server.stop()
    }

    @Test("fifty calls at once are one request")
    func coalescing() async throws {
        let coalescing = RequestCoalescing()
        let server = try await StubServer.start { _, _ in
            // The answer waits until all have come.
            while coalescing.waitingCount < 49, !Task.isCancelled { await Task.yield() }
            return .status(200, json: Self.note)
        }
        let service = Self.service(server, [coalescing])
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await Get().schedule(with: service) } }
            for try await body in group { #expect(body == Self.note) }
        }
        #expect(await server.requests.count == 1)
        await server.stop()
    }
}
