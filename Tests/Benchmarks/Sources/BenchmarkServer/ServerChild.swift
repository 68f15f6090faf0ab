import Foundation
import LoopbackServer

/// The work of the program when it runs as the server of another run of itself.
public enum ServerChild {
    /// The argument that makes it one.
    public static let argument = "--serve"

    /// Answers until its parent ends, and tells it the port.
    ///
    /// - Throws: ``ServerFailure``.
    public static func run() throws {
        var port: UInt16 = 0
        let listener = loopback_server_listen(&port)
        guard listener >= 0 else { throw ServerFailure.cannotListen }
        FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        // The parent holds the other end: it closes when the parent ends, however that happens.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            exit(0)
        }
        let arguments = CommandLine.arguments.suffix(2)
        let response = arguments.first.flatMap { ServerAnswer(rawValue: $0)?.response } ?? Data()
        let delay = arguments.last.flatMap { UInt32($0) } ?? 0
        response.withUnsafeBytes { loopback_server_serve(listener, $0.baseAddress, $0.count, delay) }
    }
}
