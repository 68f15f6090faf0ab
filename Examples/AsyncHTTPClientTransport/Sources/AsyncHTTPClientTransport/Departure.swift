import AsyncHTTPClient
import NautilusHTTP

/// A request that is ready to be sent, and what it takes to send it.
final class Departure: Sendable {
    let exchange: ClientExchange
    let request: HTTPClient.Request
    /// The request as the call has it.
    let source: HttpRequest
    /// The origin whose connections it needs.
    let origin: HttpOrigin
    let connections: ClientConnections
    /// The context, which knows how long the exchange may take.
    let context: TransportContext

    init(
        of exchange: ClientExchange,
        _ request: HTTPClient.Request,
        for source: HttpRequest,
        to origin: HttpOrigin,
        over connections: ClientConnections,
        context: TransportContext
    ) {
        self.exchange = exchange
        self.request = request
        self.source = source
        self.origin = origin
        self.connections = connections
        self.context = context
    }
}
