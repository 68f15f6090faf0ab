import Foundation

/// A server in a process of its own, so that its work is not counted as the client's: this program, run once more.
public struct ServerProcess {
    /// Where it listens, on the loopback address.
    public let port: Int
    private let process: Process

    /// Starts it.
    ///
    /// - Parameters:
    ///   - answer: The answer to every request.
    ///   - delay: For how many milliseconds it is held back. Default: none, since mostly the client is measured.
    /// - Throws: ``ServerFailure``, or why the program cannot be run.
    public init(_ answer: ServerAnswer, delay: Int = 0) throws {
        process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [ServerChild.argument, answer.rawValue, "\(delay)"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw ServerFailure.hasNoPort
        }
        self.port = port
    }

    /// Ends it, by its process identifier.
    ///
    /// Its end is not awaited: Foundation's `waitUntilExit` runs a run loop, which blocks a thread of the pool for good.
    public func end() {
        process.terminate()
    }
}

/// Why there is no server.
public enum ServerFailure: Error {
    case cannotListen
    case hasNoPort
}
