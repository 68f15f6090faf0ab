import AsyncHTTPClient
import NIOPosix

/// One client and its lines: closed when neither the transport nor an exchange holds it any more.
final class ClientConnections: Sendable {
    let client: HTTPClient
    let lines: ConnectionLines

    init(_ configuration: AsyncHTTPClientTransport.Configuration) {
        self.client = HTTPClient(
            eventLoopGroupProvider: .shared(configuration.eventLoopGroup),
            configuration: configuration.clientConfiguration
        )
        self.lines = ConnectionLines(limit: configuration.connectionsPerHost)
    }

    deinit {
        // Nothing is under way any more, so there is nothing that could fail.
        client.shutdown { _ in }
    }
}
