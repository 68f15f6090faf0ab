import Foundation
import NIOCore
import NIOHTTP1
import Nautilus

/// An opening request as it goes on the wire (RFC 6455 §4.1), but for what the upgrade adds to it.
struct HandshakeRequest: Sendable {
    let url: URL
    let host: String
    let port: Int
    let isSecure: Bool
    let head: HTTPRequestHead
    /// What may come back as the subprotocol.
    let subprotocols: [Substring]

    /// - Throws: `InvalidRequest` for what must not go on the wire, `TransportError` for a URL that is not one of web sockets.
    ///   Nothing was sent.
    init(_ request: HttpRequest) throws {
        try request.validate()
        guard request.body.isEmpty else { throw InvalidRequest.bodyNotAllowed(request.method) }
        guard let scheme = request.url.scheme?.lowercased(), scheme == "wss" || scheme == "ws" else {
            throw TransportError(.unsupportedURL)
        }
        guard let origin = request.origin,
            let components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        else { throw TransportError(.badURL) }
        // The authority, without the port that is the scheme's own (RFC 9112 §3.2).
        var headers = HTTPHeaders([("Host", String(origin.description.dropFirst("\(scheme)://".count)))])
        for field in request.header.fields where !Self.ownNames.contains(field.name) {
            // The encoder refuses them as well, but names no name (RFC 9110 §5.5).
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw InvalidRequest.headerValue(name: field.name)
            }
            headers.add(name: field.name.rawValue, value: field.value)
        }
        let path = components.percentEncodedPath
        let query = components.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.url = request.url
        self.host = origin.host
        self.port = origin.port
        self.isSecure = scheme == "wss"
        self.head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: (path.isEmpty ? "/" : path) + query,
            headers: headers
        )
        self.subprotocols = headers[canonicalForm: "Sec-WebSocket-Protocol"]
    }

    /// The name that the certificate is verified against; nil for an address, which is verified as such.
    var serverName: String? {
        (try? SocketAddress(ipAddress: host, port: port)) == nil ? host : nil
    }

    /// The fields of the handshake itself, and those of a body, which it has none of.
    private static let ownNames: Set<HttpHeader.Name> = [
        "Host", "Connection", "Upgrade", "Content-Length", "Transfer-Encoding", "Sec-WebSocket-Key",
        "Sec-WebSocket-Version", "Sec-WebSocket-Extensions", "Sec-WebSocket-Accept",
    ]
}
