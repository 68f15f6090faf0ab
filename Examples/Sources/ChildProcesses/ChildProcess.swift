import Foundation

/// A program in a process of its own: what it prints, line by line, and how it ends.
public final class ChildProcess: Sendable {
    /// How a process has ended.
    public struct Ending: Hashable, Sendable {
        /// Its exit code; for one that a signal has ended, 128 and the signal's number, as in a shell.
        public let code: Int32
        /// What it wrote to its standard output and nobody has read from ``ChildProcess/lines``.
        public let output: String
        /// What it wrote to its standard error and nobody has read from ``ChildProcess/errorLines``.
        public let errors: String
    }

    /// What it writes to its standard output, for one reader; ends with the process.
    public let lines: AsyncStream<String>
    /// What it writes to its standard error, for one reader; ends with the process.
    public let errorLines: AsyncStream<String>
    private let identifier: Int32
    private let input: FileHandle?
    private let code: Task<Int32, Never>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its executable.
    ///   - arguments: Its arguments, the name not included.
    ///   - environment: What is different from this process's environment. Default: nothing.
    ///   - input: Its standard input. Default: nil, a pipe that ``closeInput()`` closes.
    /// - Throws: Foundation's error when there is no such program.
    public init(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        input: FileHandle? = nil
    ) throws {
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        let (ends, ending) = AsyncStream<Int32>.makeStream()
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = errors
        if let input { process.standardInput = input } else { process.standardInput = standardInput }
        process.terminationHandler = { process in
            let status = process.terminationStatus
            ending.yield(process.terminationReason == .exit ? status : 128 + status)
            ending.finish()
        }
        try process.run()
        self.identifier = process.processIdentifier
        self.input = input == nil ? standardInput.fileHandleForWriting : nil
        self.lines = output.fileHandleForReading.lines
        self.errorLines = errors.fileHandleForReading.lines
        self.code = Task { await ends.first { _ in true } ?? -1 }
    }

    /// Closes its standard input, if that is a pipe of this value's own: the process reads its end.
    public func closeInput() {
        try? input?.close()
    }

    /// Sends it a signal: `SIGTERM`, `SIGINT`. Only to be called before ``ending()`` has returned.
    public func send(signal: Int32) {
        _ = kill(identifier, signal)
    }

    /// Returns once it has ended. Cancelling the task does not end it.
    public func ending() async -> Ending {
        let output = await lines.reduce(into: []) { $0.append($1) }
        let errors = await errorLines.reduce(into: []) { $0.append($1) }
        return Ending(
            code: await code.value,
            output: output.joined(separator: "\n"),
            errors: errors.joined(separator: "\n")
        )
    }
}

extension FileHandle {
    /// What comes, line by line, until its end. Read by a thread, since a pipe has no end that could be awaited.
    fileprivate var lines: AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                var rest = Data()
                while case let data = self.availableData, !data.isEmpty {
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
                continuation.finish()
            }
        }
    }
}
