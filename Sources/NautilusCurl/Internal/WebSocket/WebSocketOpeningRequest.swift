import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The request that opens a web socket, as it is sent (RFC 6455 §4.1).
struct WebSocketOpeningRequest: Sendable {
    /// The origin that the request goes to, with the scheme `ws` or `wss`.
    let origin: HttpOrigin
    /// The whole request, as it is sent.
    let bytes: [UInt8]
    /// The value of `Sec-WebSocket-Accept` that answers the key.
    let acceptance: String
    /// The subprotocols that the server may choose from.
    let subprotocols: [String]

    /// - Parameters:
    ///   - request: A GET to a URL with the scheme `wss` or `ws`.
    ///   - key: 16 bytes, drawn anew for each opening.
    /// - Throws: `HttpRequest.Invalid` for a request that must not be sent, `TransportError` for a URL that is not one
    ///   of a web socket. Nothing was sent.
    init(_ request: HttpRequest, key: [UInt8]) throws {
        try request.validateOpening()
        guard request.method == .get else { throw HttpRequest.Invalid.method }
        guard request.body.isEmpty else { throw HttpRequest.Invalid.bodyNotAllowed(request.method) }
        guard let scheme = request.url.scheme?.lowercased(), scheme == "wss" || scheme == "ws" else {
            let reason = "The URL's scheme is neither wss nor ws."
            throw TransportError.failed(.unsupportedURL, delivery: .notSent, reason: reason)
        }
        guard let origin = request.origin, let target = request.url.requestTarget else {
            throw TransportError(.badURL, delivery: .notSent)
        }
        let nonce = Data(key).base64EncodedString()
        var lines = [
            "GET \(target) HTTP/1.1",
            // The authority, without the scheme's default port (RFC 9112 §3.2).
            "Host: \(origin.description.dropFirst("\(scheme)://".count))",
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(nonce)", "Sec-WebSocket-Version: 13",
        ]
        lines += try request.header.linesOfOpening()
        self.origin = origin
        self.bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        self.acceptance = Self.acceptance(of: nonce)
        self.subprotocols = request.header.elements(of: "Sec-WebSocket-Protocol")
    }

    /// The port where TLS is spoken; nil without TLS.
    var securePort: Int? { origin.scheme == "wss" ? origin.port : nil }

    /// The answer of a server to a key (RFC 6455 §4.2.2).
    static func acceptance(of nonce: String) -> String {
        Data(Sha1.hash((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)).base64EncodedString()
    }
}

extension HttpHeader {
    /// The elements of a list, from all lines with this name (RFC 9110 §5.6.1).
    func elements(of name: Name) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { String($0.trimmingBlanks) }.filter { !$0.isEmpty }
    }

    /// The caller's lines of an opening.
    ///
    /// - Throws: `HttpRequest.Invalid` for an invalid value (RFC 9110 §5.5).
    fileprivate func linesOfOpening() throws(HttpRequest.Invalid) -> [String] {
        var lines: [String] = []
        var (hasCookie, hasAgent) = (false, false)
        for field in fields {
            guard field.value.hasOnly({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .headerValue(name: field.name)
            }
            var value = field.value
            if field.name == .userAgent { hasAgent = true }
            if field.name == .cookie {
                if hasCookie { continue }
                hasCookie = true
                value = joinedCookies
            }
            lines.append("\(field.name.rawValue): \(value)")
        }
        if !hasAgent { lines.append("User-Agent: Nautilus") }
        return lines
    }
}

extension URL {
    /// Path and query, as written in the first line (RFC 9112 §3.2.1); nil if they would not be a single word.
    fileprivate var requestTarget: String? {
        guard let components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        let path = components.percentEncodedPath
        let target = (path.isEmpty ? "/" : path) + (components.percentEncodedQuery.map { "?\($0)" } ?? "")
        return target.hasPrefix("/") && target.hasOnly { $0 > 0x20 && $0 < 0x7F } ? target : nil
    }
}
