import AsyncHTTPClient
import NIOPosix

/// One client and its queues: closed when neither the transport nor an exchange holds it any more.
final class ClientConnections: Sendable {
    let client: HTTPClient
    let queues: ConnectionQueues

    init(_ configuration: AsyncHTTPClientTransport.Configuration) {
        self.client = HTTPClient(
            eventLoopGroupProvider: .shared(configuration.eventLoopGroup),
            configuration: configuration.clientConfiguration
        )
        self.queues = ConnectionQueues(limit: configuration.connectionsPerHost)
    }

    deinit {
        // Nothing is under way any more, so there is nothing that could fail.
        client.shutdown { _ in }
    }
}
