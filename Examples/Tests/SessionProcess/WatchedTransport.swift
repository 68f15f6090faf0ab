import Foundation
import Nautilus
import NautilusURLSession
import SessionCommands

/// A usual transport that ends the process where a test wants it to.
struct WatchedTransport: HttpTransport {
    private let exchange: SessionFault.Exchange
    private let wire: Wire

    init(_ exchange: SessionFault.Exchange, wire: Wire) {
        self.exchange = exchange
        self.wire = wire
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        await wire.reach(.beforeSending(exchange))
        for value in request.header.values(of: .authorization) { await wire.note(authorization: value) }
        let response = try await URLSessionTransport.shared.send(request, context: context)
        await wire.reach(.afterAnswer(exchange))
        return response
    }
}
