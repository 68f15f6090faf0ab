import Foundation
import NautilusEnvironments
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

/// Streams of one's own, made of connections.
@Suite("The connections of a custom stream")
struct StreamConnectionsTests {
    private struct Listen: Request {
        typealias Result = Data
        var route: HttpRoute { ["listen"] }
        func decode(_ data: Data) throws -> Data { data }
    }

    private let transport = ScriptedTransport(.status(200), afterLast: .repeat)

    private var end: HttpError { HttpError(.transport(.networkConnectionLost), stage: .decode, delivery: .notSent) }

    private func sites() -> ServiceSwitch<String, AnyHttpService<HttpError>> {
        ServiceSwitch("staging") { [transport] site in
            AnyHttpService(
                apiUrl: "\(site).example.com",
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.backoff = .constant(.zero) }),
                transport: transport
            )
        }
    }

    @Test("the connections of a stream end where they began, though another environment is selected")
    func selection() async throws {
        try await simulate { [transport] _ in
            let sites = sites()
            var connections = StreamConnections(of: Listen(), with: sites)
            _ = try await connections.open(Listen())
            sites.select("production")
            connections.received()
            try await connections.waitForNext(after: end)
            _ = try await connections.open(Listen())
            #expect(transport.attempts.map { $0.request.url.host } == ["staging.example.com", "staging.example.com"])
        }
    }

    @Test("the connections of a stream go to the environment selected when the stream was made")
    func beginning() async throws {
        try await simulate { [transport] _ in
            let sites = sites()
            var connections = StreamConnections(of: Listen(), with: sites)
            sites.select("production")
            _ = try await connections.open(Listen())
            #expect(transport.attempts.map { $0.request.url.host } == ["staging.example.com"])
        }
    }

    @Test("connections that have not served count, and the reconnect limit ends the stream")
    func useless() async throws {
        try await simulate { [transport] _ in
            var connections = StreamConnections(of: Listen(), with: sites(), reconnectLimit: .attempts(3))
            let error = await #expect(throws: HttpError.self) {
                while true {
                    _ = try await connections.open(Listen())
                    try await connections.waitForNext(after: end)
                }
            }
            #expect(error?.kind == .transport(.networkConnectionLost) && error?.isReconnect == true)
            #expect(transport.count == 4)
        }
    }

    @Test("a session that ends during the delay ends the stream with the session's reason")
    func endOfSession() async throws {
        try await simulate { [transport] simulation in
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { $0 }
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                retrierFactory: .composed(
                    AuthorizationRetrier.factory(coordinator),
                    ScriptedRetrier.factory { _, _ in .retry(after: .seconds(20)) }
                ),
                transport: transport,
                clock: simulation.clock
            )
            var connections = StreamConnections(of: Listen(), with: service)
            _ = try await connections.open(Listen())
            connections.received()
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(5))
                coordinator.signOut()
            }
            let error = await #expect(throws: HttpError.self) { try await connections.waitForNext(after: end) }
            #expect(error?.requiresSignIn == true)
            #expect(simulation.clock.now.offset == .seconds(5))
        }
    }

    @Test("a POST that may have been executed is not sent again, unless the retrier says so", arguments: [false, true])
    func repeatedPost(evenIfExecuted: Bool) async throws {
        try await simulate { [transport] simulation in
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                retrierFactory: ScriptedRetrier.factory { _, _ in
                    .retry(after: .zero, evenIfExecuted: evenIfExecuted)
                },
                transport: transport,
                clock: simulation.clock
            )
            var connections = StreamConnections(of: Ping.post, with: service)
            _ = try await connections.open(Ping.post)
            let loss = HttpError(.transport(.networkConnectionLost), stage: .send, delivery: .maybeExecuted)
            if evenIfExecuted { return try await connections.waitForNext(after: loss) }
            let error = await #expect(throws: HttpError.self) { try await connections.waitForNext(after: loss) }
            #expect(error?.trace.attempts.last?.decision?.reason == .mayHaveExecuted)
        }
    }
}
