import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Streamed responses and caches")
struct StreamedCachingTests {
    private struct Export: Request, Hashable {
        typealias Result = HttpBodyStream
        var route: HttpRoute { [] }
    }

    @Test("each call has an exchange and a body of its own", arguments: ["cache", "coalescing", "hook"])
    func passedBy(what: String) async throws {
        let transport = ScriptedTransport { _, _ in
            .chunks(header: ["Cache-Control": "max-age=60"], [Data("a".utf8), Data("b".utf8)])
        }
        let interceptors: [String: [any HttpInterceptor]] = [
            "cache": [HttpCache()], "coalescing": [RequestCoalescing()],
        ]
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors[what] ?? [],
            transport: transport
        ).with { $0.hook = CachingServiceHook(for: .seconds(60)) { "me" } }
        for _ in 1...2 {
            let body = try await Export().schedule(with: service)
            #expect(try await body.collected(limit: 10) == Data("ab".utf8))
        }
        #expect(transport.count == 2)
    }
}
