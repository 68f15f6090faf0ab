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
        response.withUnsafeBytes { loopback_server_serve(listener, $0.baseAddress, $0.count) }
    }

    private static let response =
        Data(
            """
            HTTP/1.1 200 OK\r
            Content-Type: application/json\r
            Content-Length: \(Note.json.count)\r
            Cache-Control: no-store\r
            \r

            """.utf8
        ) + Note.json
}

/// Why there is no server.
enum ServerFailure: Error {
    case cannotListen
    case hasNoPort
}
