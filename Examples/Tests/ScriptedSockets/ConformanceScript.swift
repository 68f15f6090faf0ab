import Foundation

/// The server that `TransportConformance` asks for.
public actor ConformanceScript {
    /// How often each path under `/cached` was asked for.
    private var cachedCounts: [String: Int] = [:]

    /// Creates a server that was not asked for anything yet.
    public init() {}

    /// Answers the requests of one connection, one after the other.
    public func serve(_ connection: ScriptedConnection) async throws {
        while true {
            let request = try await connection.readRequest()
            switch request.path {
            case "/drop": return
            case "/hang": try await connection.hang()
            case "/truncated": return try await connection.write(Self.beginning)
            case "/stalled":
                try await connection.write(Self.beginning)
                try await connection.hang()
            case let path where path.hasPrefix("/cut/"):
                let head = "HTTP/1.1 \(path.dropFirst(5)) Status\r\nContent-Length: 100\r\n\r\n"
                return try await connection.write(head + "0123456789")
            case let path where path.hasPrefix("/transfer-coded/"):
                return try await connection.write(Self.transferCoded(status: path.dropFirst(16)))
            default: try await connection.write(answer(to: request).bytes(withBody: request.method != "HEAD"))
            }
        }
    }

    /// The beginning of an answer with a body of 100 bytes.
    private static let beginning = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"

    /// `hello`, in gzip, in one chunk.
    private static func transferCoded(status: Substring) -> Data {
        let gzip = Data([
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36,
            0x05, 0, 0, 0,
        ])
        let head = "HTTP/1.1 \(status) Status\r\nTransfer-Encoding: gzip, chunked\r\n\r\n19\r\n"
        return Data(head.utf8) + gzip + Data("\r\n0\r\n\r\n".utf8)
    }

    private func answer(to request: RecordedRequest) -> Answer {
        let parts = request.path.split(separator: "/")
        switch (parts.first, parts.count > 1 ? Int(parts[1]) : nil) {
        case ("status", let status?): return Answer(status: status, text: "status \(status)")
        case ("miscoded", let status?):
            return Answer(status: status, fields: [("Content-Encoding", "gzip")], text: "not gzip")
        case ("large", let count?): return Answer(body: Self.largeBody(count))
        case ("echo", _): return Answer(fields: Self.echo(of: request), body: request.body)
        case ("redirect", _): return Answer(status: 302, fields: [("Location", "/echo")], text: "moved")
        case ("headers", _): return Answer(fields: Self.headerFields)
        case ("cookie", _): return Answer(fields: [("Set-Cookie", "session=secret; Path=/")])
        case ("cached", _): return cached(request.path)
        case ("basic-401", _):
            let challenge = ("WWW-Authenticate", "Basic realm=\"conformance\"")
            return Answer(status: 401, fields: [challenge], text: "who are you")
        default: return Answer(status: 404, text: "no such path")
        }
    }

    private static func largeBody(_ count: Int) -> Data {
        let period = Data((0..<251).map { UInt8($0) })
        var body = Data(capacity: count + period.count)
        while body.count < count { body += period }
        return body.prefix(count)
    }

    private func cached(_ path: String) -> Answer {
        cachedCounts[path, default: 0] += 1
        return Answer(
            fields: [("Cache-Control", "max-age=3600"), ("ETag", "\"1\"")],
            text: "\(cachedCounts[path, default: 0])"
        )
    }

    private static func echo(of request: RecordedRequest) -> [(String, String)] {
        let returned = request.fields.filter { field in
            let name = field.name.lowercased()
            return name.hasPrefix("x-") || name == "cookie" || name == "authorization"
        }
        return [("Echo-Method", request.method), ("Echo-Target", request.target)]
            + returned.map { ("Echo-\($0.name)", $0.value) }
    }

    /// Written out here once more: a server that took them from the checks could not prove them wrong.
    private static let headerFields = [
        ("X-Multi", "one"),
        ("X-Multi", "two"),
        ("X-Mixed-Case", "Kept"),
        ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"),
        ("Set-Cookie", "b=2; Path=/"),
    ]
}

/// A response to be written.
private struct Answer {
    var status = 200
    var fields: [(String, String)] = []
    var body: Data

    init(status: Int = 200, fields: [(String, String)] = [], body: Data = Data()) {
        (self.status, self.fields, self.body) = (status, fields, body)
    }

    init(status: Int = 200, fields: [(String, String)] = [], text: String) {
        self.init(status: status, fields: fields, body: Data(text.utf8))
    }

    func bytes(withBody: Bool) -> Data {
        // 204 and 304 end with their header (RFC 9112 §6.3).
        let hasBody = status != 204 && status != 304
        var lines = ["HTTP/1.1 \(status) Status"] + fields.map { "\($0): \($1)" }
        if hasBody { lines.append("Content-Length: \(body.count)") }
        let head = Data((lines + ["", ""]).joined(separator: "\r\n").utf8)
        return hasBody && withBody ? head + body : head
    }
}
