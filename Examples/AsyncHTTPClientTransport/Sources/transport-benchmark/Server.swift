import Foundation
import LoopbackServer

/// What the program does when it runs as the server of another run of itself.
enum ServerChild {
    /// The argument that makes it one.
    static let argument = "--serve"

    private static let body =
        #"{"id":7,"title":"Shells","text":"A nautilus grows its shell in a spiral.","isPinned":true,"tags":["a","b"]}"#

    /// Answers until its parent ends, and tells it the port.
    static func run() throws {
        var port: UInt16 = 0
        let listener = loopback_server_listen(&port)
        guard listener >= 0 else { throw CocoaError(.fileReadUnknown) }
        FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        // The parent holds the other end: it closes when the parent ends, however that happens.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            exit(0)
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
        let response = Data("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        response.withUnsafeBytes { loopback_server_serve(listener, $0.baseAddress, $0.count) }
    }
}

/// A server in a process of its own, so that its work is not counted as the client's: this program, run once more.
struct ServerProcess {
    let port: Int
    private let process: Process

    /// Starts it.
    init() throws {
        process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [ServerChild.argument]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw CocoaError(.fileReadUnknown)
        }
        self.port = port
    }

    /// Ends it, by its process identifier.
    func end() {
        process.terminate()
    }
}
