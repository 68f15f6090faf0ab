import Foundation
import LoopbackServer

/// What the program does when it runs as the server of another run of itself.
enum ServerChild {
    /// The argument that makes it one.
    static let argument = "--serve"

    /// Answers until its parent ends, and tells it the port.
    static func run() throws {
        var port: UInt16 = 0
        let listener = loopback_server_listen(&port)
        guard listener >= 0 else { throw ServerFailure.cannotListen }
        FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        // The parent holds the other end: it closes when the parent ends, however that happens.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            exit(0)
        }
        let response = ServerAnswer(rawValue: CommandLine.arguments.last ?? "")?.response ?? Data()
        response.withUnsafeBytes { loopback_server_serve(listener, $0.baseAddress, $0.count) }
    }
}

/// What a server says of its document. Foundation's shared session has a cache, which costs it something as soon as the
/// document could be stored; Nautilus has none.
enum ServerAnswer: String, CaseIterable {
    /// As nginx answers: dated, with a tag, and nothing said of caches.
    case dated
    /// Not to be stored.
    case noStore

    /// The response as it is sent.
    var response: Data {
        let about =
            switch self {
            case .dated:
                """
                Date: Sat, 21 Nov 2026 04:18:07 GMT\r
                Last-Modified: Sat, 21 Nov 2026 04:00:00 GMT\r
                ETag: "655c2e70-66"
                """
            case .noStore:
                "Cache-Control: no-store"
            }
        let header = """
            HTTP/1.1 200 OK\r
            Content-Type: application/json\r
            Content-Length: \(Note.json.count)\r
            \(about)\r
            \r

            """
        return Data(header.utf8) + Note.json
    }

    /// What the report calls it.
    var title: String {
        switch self {
        case .dated: "an answer that could be stored"
        case .noStore: "an answer that must not be stored"
        }
    }
}

/// Why there is no server.
enum ServerFailure: Error {
    case cannotListen
    case hasNoPort
}
