import Foundation
import Nautilus
import NautilusHTTP
import NautilusStreams
import NautilusTesting

/// The shared parts of the web-socket tests: requests, a service, and a server that repeats what it hears.
package protocol WebSocketSuite {
    var clock: ManualClock { get }
}

package struct ChatStream: StreamRequest {
    package typealias Message = String
    package typealias Result = String
    package var route: HttpRoute { ["chat"] }
    package var query: HttpQuery { ["room": "7"] }
    package var subprotocols: [String] { ["v2.chat", "v1.chat"] }
    package var timeout: Duration?

    package init(
        timeout: Duration? = nil
    ) {
        self.timeout = timeout
    }
}

package struct StreamedPoint: Codable, Hashable, Sendable {
    package let x: Int

    package init(
        x: Int
    ) {
        self.x = x
    }
}

package struct PointStream: JsonStreamRequest {
    package typealias Message = StreamedPoint
    package typealias Result = StreamedPoint
    package var timeout: Duration?
    package var route: HttpRoute { [] }

    package init(
        timeout: Duration? = nil
    ) {
        self.timeout = timeout
    }
}

package struct SocketService: HttpService {
    package let apiUrl: any UrlConvertible
    package var header: HttpHeader { ["User-Agent": "Notes/1.0"] }
    package let retrierFactory: any RetrierFactory
    package let webSocketTransport: any WebSocketTransport
    package let clock: any Clock<Duration>

    package init(
        apiUrl: any UrlConvertible,
        retrierFactory: any RetrierFactory,
        webSocketTransport: any WebSocketTransport,
        clock: any Clock<Duration>
    ) {
        (self.apiUrl, self.retrierFactory, self.webSocketTransport, self.clock) = (
            apiUrl, retrierFactory, webSocketTransport, clock
        )
    }
}

extension WebSocketSuite {
    package typealias Chat = ChatStream
    package typealias Point = StreamedPoint
    package typealias Points = PointStream
    package typealias Service = SocketService

    package static func backoff(_ delay: Duration = .zero, maxAttempts: Int = 3) -> any RetrierFactory {
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

    package func service(
        _ transport: ScriptedWebSocketTransport,
        url: String = "api.example.com/v1",
        retrierFactory: any RetrierFactory = Self.backoff()
    ) -> Service {
        Service(apiUrl: url, retrierFactory: retrierFactory, webSocketTransport: transport, clock: clock)
    }

    package static var echo: ScriptedWebSocketTransport.Opening {
        .accept { socket in
            while true { try await socket.send(socket.receive()) }
        }
    }

    package func error(_ body: () async throws -> Void) async -> HttpError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? HttpError
        }
    }
}
