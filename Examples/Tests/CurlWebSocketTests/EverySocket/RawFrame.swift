import FlyingFox
import Foundation
import ScriptedSockets

/// A frame as its bytes are (RFC 6455 §5.2), written and read by hand: the library under test has no part in it.
struct RawFrame: Equatable, Sendable {
    var firstByte: UInt8
    /// The key it is masked by; nil for none.
    var mask: [UInt8]?
    /// Without the mask.
    var payload: [UInt8]

    init(firstByte: UInt8, mask: [UInt8]? = nil, payload: [UInt8] = []) {
        (self.firstByte, self.mask, self.payload) = (firstByte, mask, payload)
    }

    static func text(_ text: String, isLast: Bool = true) -> RawFrame {
        RawFrame(firstByte: isLast ? 0x81 : 0x01, payload: Array(text.utf8))
    }

    static func data(_ payload: [UInt8], isLast: Bool = true) -> RawFrame {
        RawFrame(firstByte: isLast ? 0x82 : 0x02, payload: payload)
    }

    static func continuation(_ payload: [UInt8], isLast: Bool) -> RawFrame {
        RawFrame(firstByte: isLast ? 0x80 : 0x00, payload: payload)
    }

    static func ping(_ text: String) -> RawFrame { RawFrame(firstByte: 0x89, payload: Array(text.utf8)) }
    static func pong(_ payload: [UInt8]) -> RawFrame { RawFrame(firstByte: 0x8A, payload: payload) }

    static func close(_ code: UInt16, _ reason: String = "") -> RawFrame {
        RawFrame(firstByte: 0x88, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    var text: String { String(decoding: payload, as: UTF8.self) }

    /// The close code of a close frame; nil for other frames, and without a code.
    var closeCode: UInt16? {
        firstByte == 0x88 && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    var bytes: Data {
        var bytes: [UInt8] = [firstByte]
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ...125: bytes.append(maskBit | UInt8(payload.count))
        case ...65_535: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [maskBit | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard let mask else { return Data(bytes + payload) }
        return Data(bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] })
    }
}

extension ScriptedConnection {
    /// Reads the opening request and completes the handshake (RFC 6455 §4.2.2).
    ///
    /// - Parameters:
    ///   - lines: More fields of the answer.
    ///   - frames: Frames that are sent with the same write.
    @discardableResult
    func acceptSocket(_ lines: [String] = [], then frames: RawFrame...) async throws -> RecordedRequest {
        let request = try await readRequest()
        let acceptance = try await request.acceptance(lines)
        try await write(Data(acceptance.utf8) + frames.map(\.bytes).joined())
        return request
    }

    func write(_ frames: RawFrame...) async throws {
        try await write(Data(frames.map(\.bytes).joined()))
    }

    func readFrame() async throws -> RawFrame {
        let head = try await read(2)
        var count = Int(head[1] & 0x7F)
        if count >= 126 { count = try await read(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        let mask = head[1] & 0x80 == 0 ? nil : try await read(4)
        let bytes = try await read(count)
        let payload = mask.map { mask in bytes.enumerated().map { $1 ^ mask[$0 % 4] } } ?? bytes
        return RawFrame(firstByte: head[0], mask: mask, payload: payload)
    }
}

extension RecordedRequest {
    /// The answer that opens the socket. Its digest is FlyingFox's, which shares no code with the library under test.
    func acceptance(_ lines: [String] = [], key: String? = nil) async throws -> String {
        let fields: [HTTPHeader: String] = [
            .host: "a", .upgrade: "websocket", .connection: "Upgrade", .webSocketVersion: "13",
            .webSocketKey: key ?? values(of: "Sec-WebSocket-Key").first ?? "",
        ]
        let request = HTTPRequest(method: .GET, version: .http11, path: "/", query: [], headers: fields, body: Data())
        let response = try await WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: Echo()))
            .handleRequest(request)
        let head = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(response.headers[.webSocketAccept] ?? "")",
        ]
        return (head + lines + ["", ""]).joined(separator: "\r\n")
    }
}
