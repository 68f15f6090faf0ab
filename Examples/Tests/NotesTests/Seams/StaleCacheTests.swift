import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("A custom cache over real sockets", .timeLimit(.minutes(10)))
struct StaleCacheTests {
    private struct Numbers: JsonRequest {
        typealias Result = [Int]
        var route: HttpRoute { [] }
        /// None, so that nothing but the server's delay sleeps on the clock.
        var timeout: Duration? { nil }
    }

    /// Authorizes requests when all interceptors have seen them.
    private struct Authorizing: Retrier {
        let credentials: [any CallCredential] = [Secret()]

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }

    private struct Secret: CallCredential {
        let session = CallSession()

        func ready() async throws {}

        func authorize(_ request: inout HttpRequest) throws -> Bool {
            request.authorize(as: CredentialTag(session: session, generation: 0)) {
                $0.header[.authorization] = "Bearer secret"
            }
            return true
        }
    }

    private let clock = ManualClock()

    private func service(
        _ transport: ScriptedTransport,
        _ retrier: any RetrierFactory = .never
    ) -> AnyHttpService<HttpError> {
        let cache = StaleCache(lifetime: .seconds(60)) { [clock] in clock.now.offset }
        return AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [cache],
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        )
    }

    @Test("an old answer is given at once, and one request behind the calls renews it")
    func stale() async throws {
        let transport = ScriptedTransport(
            .reply(text: "[1]"),
            .delay(.milliseconds(300), then: .reply(text: "[2]")),
            clock: clock
        )
        let service = service(transport)
        for _ in 1...2 { #expect(try await Numbers().schedule(with: service) == [1]) }
        #expect(transport.count == 1)
        clock.advance(by: .seconds(60))
        // The clock is not advanced: a call that waited for the server would not return.
        for _ in 1...3 { #expect(try await Numbers().schedule(with: service) == [1]) }
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(300))
        while try await Numbers().schedule(with: service) == [1] { await Task.yield() }
        #expect(try await Numbers().schedule(with: service) == [2])
        #expect(transport.count == 2)
    }

    @Test("a cache of one's own does not answer with a response that could not be decoded")
    func undecodable() async throws {
        let transport = ScriptedTransport(.reply(text: "<html>"), .reply(text: "[1]"))
        let service = service(transport)
        await #expect(throws: HttpError.self) { try await Numbers().schedule(with: service) }
        for _ in 1...2 { #expect(try await Numbers().schedule(with: service) == [1]) }
        #expect(transport.count == 2)
    }

    @Test("an answer to a credential is not kept, though that was put on the request after the cache had seen it")
    func credential() async throws {
        let transport = ScriptedTransport(.reply(text: "[1]"), afterLast: .repeat)
        let service = service(transport, AnyRetrierFactory { Authorizing() })
        for _ in 1...2 { #expect(try await Numbers().schedule(with: service) == [1]) }
        #expect(transport.count == 2)
    }
}
