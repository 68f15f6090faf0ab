import Foundation
import NautilusHTTP

/// A server's answer to the opening of a web socket, from bytes that come in pieces of any size.
struct WebSocketOpeningAnswer {
    enum Outcome: Sendable {
        /// The socket is open. The header is that of the 101; frames may have arrived together with it.
        case opened(HttpHeader, frames: ArraySlice<UInt8>)
        /// The server has answered with a status other than 101.
        case declined(HttpResponse<Data>)
    }

    private enum Stage {
        case header
        case body(WebSocketRefusalBody)
    }

    private let acceptance: String
    private let subprotocols: [String]
    private let headerLimit: Int
    private let bodyLimit: Int
    private var head: CurlResponseHead
    private var line: [UInt8] = []
    private var stage = Stage.header

    /// - Parameters:
    ///   - headerLimit: The most bytes of a header, including interim responses.
    ///   - bodyLimit: How many bytes of the body are kept if the status is not 101.
    init(to request: WebSocketOpeningRequest, headerLimit: Int, bodyLimit: Int) {
        self.acceptance = request.acceptance
        self.subprotocols = request.subprotocols
        self.headerLimit = headerLimit
        self.bodyLimit = bodyLimit
        self.head = CurlResponseHead(limit: headerLimit, expectsUpgrade: true)
    }

    /// Reads the next bytes.
    ///
    /// - Returns: The outcome; nil if more bytes are needed.
    /// - Throws: `TransportError` for an invalid answer, and for a 101 that does not complete the handshake.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Outcome? {
        var rest = bytes[...]
        while case .header = stage {
            guard let end = rest.firstIndex(of: 0x0A) else {
                guard line.count + rest.count <= headerLimit else { throw .headerTooLarge }
                line.append(contentsOf: rest)
                return nil
            }
            line.append(contentsOf: rest[...end])
            rest = rest[(end + 1)...]
            defer { line.removeAll(keepingCapacity: true) }
            guard try takeLine() else { continue }
            if head.status == 101 {
                let header = head.header
                try check(header)
                return .opened(header, frames: Array(rest)[...])
            }
            stage = .body(WebSocketRefusalBody(head, limit: bodyLimit))
        }
        guard case .body(var body) = stage else { return nil }
        let isOver = body.take(rest)
        stage = .body(body)
        return isOver ? .declined(response(body.bytes)) : nil
    }

    /// Whether the header has arrived, and with it the status.
    var hasHeader: Bool { head.isComplete }

    /// Ends the answer, since no more bytes come.
    ///
    /// - Throws: `TransportError` if no complete header has arrived; the server may have acted on the request
    ///   nonetheless.
    func end() throws(TransportError) -> Outcome {
        // The status is known, so it does not matter if the body is cut short.
        guard case .body(let body) = stage else { throw TransportError(.networkConnectionLost) }
        return .declined(response(body.bytes))
    }

    private mutating func takeLine() throws(TransportError) -> Bool {
        // Only the line is copied; copying the head for each line would make a long header slow.
        let line = line
        let isComplete = line.withUnsafeBytes { bytes in
            Result { () throws(CurlResponseHead.Refusal) in try head.take(bytes) }
        }
        switch isComplete {
        case .success(let isComplete): return isComplete
        case .failure(.tooLarge): throw .headerTooLarge
        case .failure: throw TransportError(.badServerResponse)
        }
    }

    /// Checks everything that a client has to check (RFC 6455 §4.1).
    private func check(_ header: HttpHeader) throws(TransportError) {
        guard head.isHttp11 else { throw .incompleteHandshake }
        let upgrades = header.elements(of: "Upgrade").map { $0.lowercased() }
        guard upgrades == ["websocket"] else { throw .incompleteHandshake }
        guard header.elements(of: "Connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            throw .incompleteHandshake
        }
        // A server that has not read the key does not speak the protocol: it may be a cache, or have been tricked into
        // answering.
        guard header.values(of: "Sec-WebSocket-Accept") == [acceptance] else { throw .incompleteHandshake }
        // No extension was asked for, and with one, frames would have another meaning.
        guard header.values(of: "Sec-WebSocket-Extensions").isEmpty else { throw .incompleteHandshake }
        let chosen = header.values(of: "Sec-WebSocket-Protocol")
        guard chosen.isEmpty || chosen.count == 1 && subprotocols.contains(chosen[0]) else {
            throw .incompleteHandshake
        }
    }

    private func response(_ body: Data) -> HttpResponse<Data> {
        HttpResponse(status: head.status, header: head.header, body: readable(body))
    }

    /// The body without its coding, as far as it can be decoded; nothing of one that cannot be known.
    private func readable(_ body: Data) -> Data {
        #if os(Linux)
            guard !head.codings.isEmpty || head.hasUnrequestedCoding else { return body }
            var decoded = CurlBody(limit: bodyLimit, download: nil)
            guard decoded.begin(head) else { return Data() }
            _ = body.withUnsafeBytes { decoded.take($0) }
            decoded.end()
            return decoded.bytes
        #else
            return head.hasUnrequestedCoding ? Data() : body
        #endif
    }
}

/// The body of a refusal such as a 401 or a 503, up to a limit, beyond which it is not waited for.
struct WebSocketRefusalBody: Sendable {
    private enum Framing {
        /// The number of bytes that follow; nil for all bytes up to the end of the connection.
        case counted(Int64?)
        /// A chunk's size, which is followed by its bytes and the end of a line (RFC 9112 §7.1).
        case chunkSize([UInt8])
        case chunk(UInt64)
        case chunkEnd
    }

    /// The bytes of the body that have arrived.
    private(set) var bytes = Data()
    private let limit: Int
    private var framing: Framing

    init(_ head: CurlResponseHead, limit: Int) {
        self.limit = max(0, limit)
        if !head.hasBody(inAnswerTo: .get) {
            framing = .counted(0)
        } else if head.header.elements(of: "Transfer-Encoding").last?.lowercased() == "chunked" {
            framing = .chunkSize([])
        } else {
            framing = .counted(head.contentLength)
        }
    }

    /// Reads the next bytes.
    ///
    /// - Returns: Whether the body is over: complete, cut off at the limit, or not there at all.
    mutating func take(_ part: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = part
        while true {
            switch framing {
            case .counted(let count):
                let taken = rest.prefix(Int(min(Int64(rest.count), count ?? .max)))
                keep(taken)
                framing = .counted(count.map { $0 - Int64(taken.count) })
                return count == Int64(taken.count) || bytes.count == limit
            case .chunkSize(var line):
                guard let byte = rest.popFirst() else { return false }
                line.append(byte)
                framing = .chunkSize(line)
                guard byte == 0x0A || line.count > 256 else { continue }
                // A semicolon and extensions may follow the size.
                let digits = String(decoding: line.prefix(while: \.isHexDigit), as: UTF8.self)
                guard let size = UInt64(digits, radix: 16), size > 0 else { return true }
                framing = .chunk(size)
            case .chunk(let size):
                let taken = rest.prefix(Int(min(UInt64(rest.count), size)))
                keep(taken)
                rest = rest[taken.endIndex...]
                if bytes.count == limit { return true }
                let missing = size - UInt64(taken.count)
                framing = missing == 0 ? .chunkEnd : .chunk(missing)
                if missing > 0 { return false }
            case .chunkEnd:
                guard let byte = rest.popFirst() else { return false }
                guard byte == 0x0A || byte == 0x0D else { return true }
                if byte == 0x0A { framing = .chunkSize([]) }
            }
        }
    }

    private mutating func keep(_ part: Slice<UnsafeRawBufferPointer>) {
        bytes.append(contentsOf: part.prefix(limit - bytes.count))
    }
}

extension TransportError {
    fileprivate static let headerTooLarge = TransportError.failed(
        .badServerResponse,
        delivery: .maybeExecuted,
        reason: "The answer's header is larger than the transport takes."
    )

    fileprivate static let incompleteHandshake = TransportError.failed(
        .badServerResponse,
        delivery: .maybeExecuted,
        reason: "The server's answer does not complete the handshake of a web socket (RFC 6455 §4.1)."
    )
}
