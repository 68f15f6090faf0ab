import Foundation
import Nautilus
import ScriptedSockets
import Testing

/// One way in which a server misbehaves, and what an exchange with it comes to.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    /// The outcome for the caller of an exchange.
    enum Ending: Sendable, Equatable {
        /// 200 with this body.
        case success(String)
        case failure(URLError.Code)
        case tooLarge
        /// Any response, or any error of the transport's: the point is that it ends.
        case either
    }

    let testDescription: String
    let ending: Ending
    /// Whether Foundation survives it on Linux, and ends the exchange.
    let isSurvivedByFoundation: Bool
    let script: ScriptedServer.Script

    init(
        _ name: String,
        _ ending: Ending,
        isSurvivedByFoundation: Bool = true,
        script: @escaping ScriptedServer.Script
    ) {
        self.testDescription = name
        self.ending = ending
        self.isSurvivedByFoundation = isSurvivedByFoundation
        self.script = script
    }

    /// The server reads the request, answers with `bytes` and closes the connection.
    init(_ name: String, _ ending: Ending, isSurvivedByFoundation: Bool = true, answering bytes: Data) {
        self.init(name, ending, isSurvivedByFoundation: isSurvivedByFoundation) { connection in
            _ = try await connection.readRequest()
            try await connection.write(bytes)
        }
    }

    init(_ name: String, _ ending: Ending, isSurvivedByFoundation: Bool = true, answering text: String) {
        self.init(name, ending, isSurvivedByFoundation: isSurvivedByFoundation, answering: Data(text.utf8))
    }

    /// The server reads the request, writes `head` and then `part` for ever.
    init(
        _ name: String,
        _ ending: Ending,
        isSurvivedByFoundation: Bool = true,
        endless part: String,
        behind head: String
    ) {
        self.init(name, ending, isSurvivedByFoundation: isSurvivedByFoundation) { connection in
            _ = try await connection.readRequest()
            try await connection.write(head)
            // Ends when the client closes the connection.
            let block = Data(String(repeating: part, count: max(1, 16_384 / part.utf8.count)).utf8)
            while true { try await connection.write(block) }
        }
    }

    static let all = lengths + chunks + statuses + fields + interims + codings + endings + cuts
}

private let head = "HTTP/1.1 200 OK\r\n"

extension HostileAnswer {
    private static let lengths =
        [
            ("2⁶³", "9223372036854775808"), ("2⁶⁴ + 5", "18446744073709551621"),
            ("a hundred digits", String(repeating: "9", count: 100)),
        ].map { name, length in
            HostileAnswer(
                "a length of \(name)",
                .failure(.badServerResponse),
                isSurvivedByFoundation: false,
                answering: head + "Content-Length: \(length)\r\n\r\nhello"
            )
        }
        + ["-5", "+5", "0x5", "", "5 5", "5;", "5,", "five", "5, 6", "5\r\nContent-Length: 6"].map { length in
            HostileAnswer(
                "a length of '\(length.replacingOccurrences(of: "\r\n", with: " | "))'",
                .failure(.badServerResponse),
                answering: head + "Content-Length: \(length)\r\n\r\nhello"
            )
        }
        + ["5, 5", "5\r\nContent-Length: 5", "  5  ", "0000000000000000005"].map { length in
            HostileAnswer(
                "a length of '\(length.replacingOccurrences(of: "\r\n", with: " | "))', which is one",
                .success("hello"),
                answering: head + "Content-Length: \(length)\r\n\r\nhello"
            )
        }

    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    private static let chunks = [
        HostileAnswer("a chunk of -5", .failure(.badServerResponse), answering: chunked + "-5\r\nhello\r\n0\r\n\r\n"),
        HostileAnswer(
            "a chunk of 2⁶⁴",
            .failure(.badServerResponse),
            answering: chunked + "10000000000000000\r\nhello\r\n0\r\n\r\n"
        ),
        HostileAnswer(
            "a chunk of forty digits",
            .failure(.badServerResponse),
            answering: chunked + String(repeating: "f", count: 40) + "\r\nhello"
        ),
        HostileAnswer(
            "a chunk that is longer",
            .failure(.badServerResponse),
            answering: chunked + "3\r\nhello\r\n0\r\n\r\n"
        ),
        HostileAnswer("a chunk that breaks off", .failure(.networkConnectionLost), answering: chunked + "9\r\nhello"),
        HostileAnswer("no last chunk", .failure(.networkConnectionLost), answering: chunked + "5\r\nhello\r\n"),
        HostileAnswer("an extension", .success("hello"), answering: chunked + "5;a=b\r\nhello\r\n0\r\n\r\n"),
        HostileAnswer(
            "trailers",
            .success("hello"),
            isSurvivedByFoundation: false,
            answering: chunked + "5\r\nhello\r\n0\r\nX: y\r\n\r\n"
        ),
        HostileAnswer(
            "a trailer that is no field",
            .failure(.badServerResponse),
            isSurvivedByFoundation: false,
            answering: chunked + "5\r\nhello\r\n0\r\nno field\r\n\r\n"
        ),
        HostileAnswer(
            "trailers without an end",
            .failure(.badServerResponse),
            isSurvivedByFoundation: false,
            endless: "X-Trailer: y\r\n",
            behind: chunked + "5\r\nhello\r\n0\r\n"
        ),
        HostileAnswer(
            "chunks and a length",
            .either,
            answering: head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        ),
        HostileAnswer(
            "chunks within chunks",
            .either,
            answering: head + "Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        ),
        HostileAnswer(
            "an unknown transfer coding",
            .failure(.badServerResponse),
            answering: head + "Transfer-Encoding: shell\r\n\r\nhello"
        ),
        HostileAnswer(
            "gzip within chunks",
            .failure(.badServerResponse),
            answering: Data((head + "Transfer-Encoding: gzip, chunked\r\n\r\n19\r\n").utf8) + gzip
                + Data("\r\n0\r\n\r\n".utf8)
        ),
    ]

    private static let statuses =
        ["HTTP/1.1 99 OK", "HTTP/1.1 20 OK", "HTTP/1.1 abc OK", "HTTP/1.1", "HTTP/7.3 200 OK", "ICY 200 OK", "hello"]
        .map {
            HostileAnswer(
                "a status line of '\($0)'",
                .failure(.badServerResponse),
                answering: $0 + "\r\nContent-Length: 5\r\n\r\nhello"
            )
        } + [
            HostileAnswer("a status of 1000", .failure(.badServerResponse), answering: "HTTP/1.1 1000 OK\r\n\r\n"),
            HostileAnswer("zeros", .failure(.badServerResponse), answering: Data(count: 4096)),
            HostileAnswer(
                "TLS where there was to be none",
                .failure(.badServerResponse),
                answering: Data([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])
            ),
            HostileAnswer(
                "an answer without end that is no HTTP",
                .failure(.badServerResponse),
                endless: "nautilus ",
                behind: ""
            ),
        ]

    private static let fields = [
        HostileAnswer(
            "a field without name",
            .failure(.badServerResponse),
            answering: head + ": x\r\nContent-Length: 5\r\n\r\nhello"
        ),
        HostileAnswer(
            "a field without colon",
            .failure(.badServerResponse),
            answering: head + "x\r\nContent-Length: 5\r\n\r\nhello"
        ),
        HostileAnswer(
            "a zero byte in a field",
            .failure(.badServerResponse),
            answering: head + "X: a\0b\r\nContent-Length: 5\r\n\r\nhello"
        ),
        HostileAnswer(
            "a field that goes on",
            .success("hello"),
            answering: head + "X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello"
        ),
        HostileAnswer("line feeds alone", .success("hello"), answering: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"),
        HostileAnswer(
            "fields without end",
            .failure(.badServerResponse),
            endless: "X-Field: nautilus\r\n",
            behind: head
        ),
        HostileAnswer("one field without end", .failure(.badServerResponse), endless: "nautilus", behind: head + "X: "),
        HostileAnswer(
            "a status line without end",
            .failure(.badServerResponse),
            endless: "nautilus",
            behind: "HTTP/1.1 200 "
        ),
    ]

    private static let interims = [
        HostileAnswer(
            "103 and 200",
            .success("hello"),
            answering: "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + head + "Content-Length: 5\r\n\r\nhello"
        ),
        HostileAnswer(
            "100 and no more",
            .failure(.networkConnectionLost),
            isSurvivedByFoundation: false,
            answering: "HTTP/1.1 100 Continue\r\n\r\n"
        ),
        HostileAnswer(
            "100 without end",
            .failure(.badServerResponse),
            isSurvivedByFoundation: false,
            endless: "HTTP/1.1 100 Continue\r\n\r\n",
            behind: ""
        ),
        HostileAnswer(
            "102 with fields without end",
            .failure(.badServerResponse),
            isSurvivedByFoundation: false,
            endless: "HTTP/1.1 102 Wait\r\nX: \(String(repeating: "y", count: 1000))\r\n\r\n",
            behind: ""
        ),
        HostileAnswer(
            "101, unrequested",
            .failure(.badServerResponse),
            isSurvivedByFoundation: false,
            answering: "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello"
        ),
    ]

    private static func coded(_ coding: String, _ body: Data) -> Data {
        Data((head + "Content-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n").utf8) + body
    }

    /// `hello`, in gzip.
    static let gzip = Data([
        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36,
        0x05, 0,
        0, 0,
    ])

    private static let brotli = Data([0x0B, 0x02, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x03])
    private static let zstd = Data([
        0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x05, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0xA3, 0x6D, 0x9F, 0x88,
    ])

    private static let codings = [
        HostileAnswer("gzip", .success("hello"), answering: coded("gzip", gzip)),
        HostileAnswer(
            "gzip in two members",
            .success("hellohello"),
            isSurvivedByFoundation: false,
            answering: coded("gzip", gzip + gzip)
        ),
        HostileAnswer(
            "gzip that breaks off within the body",
            .failure(.cannotDecodeContentData),
            isSurvivedByFoundation: false,
            answering: coded("gzip", gzip.dropLast(9))
        ),
        HostileAnswer(
            "gzip with another checksum",
            .failure(.cannotDecodeContentData),
            answering: coded("gzip", gzip.dropLast(8) + Data(count: 8))
        ),
        HostileAnswer(
            "gzip with more behind it",
            .success("hello"),
            isSurvivedByFoundation: false,
            answering: coded("gzip", gzip + Data("\r\nmore".utf8))
        ),
        HostileAnswer(
            "gzip with zeros behind it",
            .success("hello"),
            isSurvivedByFoundation: false,
            answering: coded("gzip", gzip + Data(count: 512))
        ),
        HostileAnswer(
            "gzip that is none",
            .failure(.cannotDecodeContentData),
            answering: coded("gzip", Data("hello".utf8))
        ),
        HostileAnswer(
            "gzip of gzip that is gzip of none",
            .failure(.cannotDecodeContentData),
            isSurvivedByFoundation: false,
            answering: coded("gzip, gzip", gzip)
        ),
        HostileAnswer(
            "deflate",
            .success("hello"),
            answering: coded("deflate", Data([0x78, 0x9C]) + gzip[10..<17] + [0x06, 0x2C, 0x02, 0x15])
        ),
        HostileAnswer("deflate, raw", .success("hello"), answering: coded("deflate", gzip[10..<17])),
        HostileAnswer("br", .success("hello"), isSurvivedByFoundation: false, answering: coded("br", brotli)),
        HostileAnswer(
            "br that breaks off within the body",
            .failure(.cannotDecodeContentData),
            isSurvivedByFoundation: false,
            answering: coded("br", brotli.dropLast())
        ),
        HostileAnswer("zstd", .success("hello"), isSurvivedByFoundation: false, answering: coded("zstd", zstd)),
        HostileAnswer(
            "zstd with another checksum",
            .failure(.cannotDecodeContentData),
            isSurvivedByFoundation: false,
            answering: coded("zstd", zstd.dropLast() + [0])
        ),
        HostileAnswer("a bomb of gzip", .tooLarge, answering: coded("gzip", gzipBomb)),
        HostileAnswer(
            "a bomb of zstd",
            .tooLarge,
            isSurvivedByFoundation: false,
            answering: coded("zstd", zstdBomb)
        ),
    ]

    /// 20 MiB of zeros in 130 kB: one literal, and then the longest match of what stands before it, again and again (RFC
    /// 1951 §3.2.6).
    private static let gzipBomb: Data = {
        let match: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
        let bits: [UInt8] = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0] + (0..<80_000).flatMap { _ in match }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | $1 }
        }
        return gzip.prefix(10) + Data(bytes)
    }()

    /// 4 GiB of zeros in 128 KiB: blocks of one byte that is repeated 131 072 times (RFC 8878 §3.1.1.2).
    private static let zstdBomb: Data = {
        let block = Data([0x02, 0x00, 0x10, 0x00])
        return Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58]) + (0..<32_768).reduce(into: Data()) { all, _ in all += block }
    }()

    private static let endings = [
        HostileAnswer("a body without end", .tooLarge, endless: "nautilus", behind: head + "\r\n"),
        HostileAnswer("chunks without end", .tooLarge, endless: "8\r\nnautilus\r\n", behind: chunked),
        HostileAnswer("a length over the limit", .tooLarge, answering: head + "Content-Length: 1000000\r\n\r\nhello"),
        HostileAnswer("no answer", .failure(.networkConnectionLost), answering: ""),
        HostileAnswer("a reset in place of an answer", .failure(.networkConnectionLost)) { connection in
            _ = try await connection.readRequest()
            await connection.reset()
        },
        HostileAnswer("a connection that is closed at once", .failure(.networkConnectionLost)) { _ in },
        // Before or after the client knows of the connection.
        HostileAnswer("a connection that is reset at once", .either) { await $0.reset() },
        HostileAnswer("an answer before the request", .either) { connection in
            try await connection.write(head + "Content-Length: 5\r\n\r\nhello")
        },
        HostileAnswer("an answer byte by byte", .success("hello")) { connection in
            _ = try await connection.readRequest()
            for byte in (head + "Content-Length: 5\r\n\r\nhello").utf8 { try await connection.write(Data([byte])) }
        },
    ]

    /// Answers that break off behind each of their bytes, in order and by a reset.
    private static let cuts: [HostileAnswer] = {
        let plain = Data((head + "X: y\r\nContent-Length: 5\r\n\r\nhello").utf8)
        let trailed = Data((chunked + "5\r\nhello\r\n0\r\nX: y\r\n\r\n").utf8)
        let kinds = [("a plain answer", plain), ("an answer with trailers", trailed), ("gzip", coded("gzip", gzip))]
        return kinds.flatMap { name, bytes in
            bytes.indices.map { index in
                HostileAnswer(
                    "\(name), cut behind \(index) bytes",
                    // Without its last line feed, behind the last chunk, it is as good as whole.
                    bytes == trailed && index == bytes.count - 1 ? .either : .failure(.networkConnectionLost),
                    isSurvivedByFoundation: false,
                    answering: bytes[..<index]
                )
            }
                + bytes.indices.filter { $0.isMultiple(of: 5) }.map { index in
                    HostileAnswer("\(name), reset behind \(index) bytes", .either, isSurvivedByFoundation: false) {
                        connection in
                        _ = try await connection.readRequest()
                        try await connection.write(bytes[..<index])
                        await connection.reset()
                    }
                }
        }
    }()
}
