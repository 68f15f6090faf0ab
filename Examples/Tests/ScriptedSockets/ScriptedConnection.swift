import FlyingSocks
import Foundation

/// One accepted connection: read requests, write any bytes, end it in any way.
public actor ScriptedConnection {
    private let socket: AsyncSocket
    private let log: RequestLog
    private var buffer: [UInt8] = []
    private var isClosed = false

    init(socket: AsyncSocket, log: RequestLog) {
        self.socket = socket
        self.log = log
    }

    /// Reads one request, head and body, and records it.
    ///
    /// - Throws: The socket's error when the peer leaves first.
    public func readRequest() async throws -> RecordedRequest {
        let request = try await readHead()
        let isChunked = request.values(of: "Transfer-Encoding").contains { $0.lowercased() == "chunked" }
        let length = request.values(of: "Content-Length").first.flatMap { Int($0) } ?? 0
        let body = try await isChunked ? readChunks() : read(length)
        let recorded = RecordedRequest(
            requestLine: request.requestLine,
            headerLines: request.headerLines,
            body: Data(body)
        )
        await log.add(recorded)
        return recorded
    }

    /// Reads the head and at most a part of the body; nothing is recorded.
    @discardableResult
    public func readHead() async throws -> RecordedRequest {
        let head = try await String(decoding: read(through: Array("\r\n\r\n".utf8)).dropLast(4), as: UTF8.self)
        let lines = head.components(separatedBy: "\r\n")
        return RecordedRequest(requestLine: lines[0], headerLines: Array(lines.dropFirst()), body: Data())
    }

    /// Reads a chunked body behind a head that has been read; what came of it when the peer leaves first.
    public func readChunkedBody() async -> [UInt8] {
        (try? await readChunks()) ?? []
    }

    /// Reads the `count` bytes of a body behind a head that has been read, and keeps none of them.
    ///
    /// - Throws: The socket's error when the peer leaves first.
    public func skip(_ count: Int) async throws {
        var left = count - buffer.count
        buffer = []
        while left > 0 { left -= try await socket.read(atMost: min(left, 1 << 20)).count }
    }

    /// Says nothing more and reads until the peer leaves; returns what came.
    public func readToEnd() async -> Data {
        while (try? await fill()) != nil {}
        defer { buffer = [] }
        return Data(buffer)
    }

    /// Writes bytes as they are.
    public func write(_ data: Data) async throws {
        try await socket.write(data)
    }

    /// Writes text as UTF-8; line breaks are the script's.
    public func write(_ text: String) async throws {
        try await write(Data(text.utf8))
    }

    /// Writes a response with a `Content-Length`.
    public func respond(_ status: String = "200 OK", _ lines: [String] = [], body: Data = Data()) async throws {
        let head = ["HTTP/1.1 \(status)"] + lines + ["Content-Length: \(body.count)"]
        try await write(Data(head.joined(separator: "\r\n").utf8) + Data("\r\n\r\n".utf8) + body)
    }

    /// Says nothing more until the peer leaves or the server is stopped.
    public func hang() async throws {
        while true { _ = try await socket.read(atMost: 4096) }
    }

    /// Reads nothing more, until the server is stopped: the peer's bytes pile up on its side.
    public func ignore() async throws {
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        try Task.checkCancellation()
    }

    /// Ends the connection in order (FIN).
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        try? socket.close()
    }

    /// Ends the connection at once (RST), which the peer sees as a connection reset.
    public func reset() {
        guard !isClosed else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.socket.file.rawValue, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

extension ScriptedConnection {
    /// Reads `count` bytes as they are, of whatever protocol.
    ///
    /// - Throws: The socket's error when the peer leaves first.
    public func read(_ count: Int) async throws -> [UInt8] {
        while buffer.count < count { try await fill() }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    private func read(through end: [UInt8]) async throws -> [UInt8] {
        var searched = 0
        while true {
            if let range = buffer[searched...].firstRange(of: end) { return try await read(range.upperBound) }
            searched = max(0, buffer.count - end.count)
            try await fill()
        }
    }

    private func readChunks() async throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try await String(decoding: read(through: Array("\r\n".utf8)).dropLast(2), as: UTF8.self)
            let count = Int(line.prefix { $0 != ";" }, radix: 16) ?? 0
            body += try await read(count)
            _ = try await read(2)
            if count == 0 { return body }
        }
    }

    private func fill() async throws {
        buffer += try await socket.read(atMost: 4096)
    }
}
