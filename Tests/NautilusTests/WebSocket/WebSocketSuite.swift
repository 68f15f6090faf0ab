import Foundation
import NautilusTesting

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

/// The shared parts of the web-socket tests: requests, a service, and a server that repeats what it hears.
protocol WebSocketSuite {
    var clock: ManualClock { get }
}

struct ChatStream: StreamRequest {
    typealias Message = String
    typealias Result = String
    var route: HttpRoute { ["chat"] }
    var query: HttpQuery { ["room": "7"] }
    var subprotocols: [String] { ["v2.chat", "v1.chat"] }
    var timeout: Duration?
}

struct StreamedPoint: Codable, Hashable, Sendable {
    let x: Int
}

struct PointStream: JsonStreamRequest {
    typealias Message = StreamedPoint
    typealias Result = StreamedPoint
    var timeout: Duration?
    var route: HttpRoute { [] }
}

struct SocketService: HttpService {
    let apiUrl: any UrlConvertible
    var header: HttpHeader { ["User-Agent": "Notes/1.0"] }
    let retrierFactory: any RetrierFactory
    let webSocketTransport: any WebSocketTransport
    let clock: any Clock<Duration>
}

extension WebSocketSuite {
    typealias Chat = ChatStream
    typealias Point = StreamedPoint
    typealias Points = PointStream
    typealias Service = SocketService

    static func backoff(_ delay: Duration = .zero, maxAttempts: Int = 3) -> any RetrierFactory {
        // The budget of the process is for all tests together.
        let backoff = Backoff.constant(delay, jitter: .none)
        return BackoffRetrier.factory(
            .standard.with {
                $0.backoff = backoff
                $0.maxAttempts = maxAttempts
                $0.budget = .unlimited
            }
        )
    }

    func service(
        _ transport: ScriptedWebSocketTransport,
        url: String = "api.example.com/v1",
        retrierFactory: any RetrierFactory = Self.backoff()
    ) -> Service {
        Service(apiUrl: url, retrierFactory: retrierFactory, webSocketTransport: transport, clock: clock)
    }

    static var echo: ScriptedWebSocketTransport.Opening {
        .accept { socket in
            while true { try await socket.send(socket.receive()) }
        }
    }

    func error(_ body: () async throws -> Void) async -> HttpError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? HttpError
        }
    }
}
