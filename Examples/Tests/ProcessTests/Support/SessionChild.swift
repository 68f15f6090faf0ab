import Foundation
import SessionCommands

/// A running `session-process`.
final class SessionChild: Sendable {
    /// How a process has ended.
    enum Ending: Hashable, Sendable {
        /// By itself, after commands that all succeeded, or of which one failed.
        case finished(hasFailed: Bool)
        /// By SIGKILL.
        case killed
        /// In a way that no test wants.
        case crashed(status: Int32)
    }

    /// The process said something else than an outcome, or nothing more.
    struct Silence: Error {}

    private let process: Process
    private let input: FileHandle
    private let output: LineReader
    private let termination: Task<Ending?, Never>

    /// Starts a process, and returns once it is ready for commands.
    init(_ settings: SessionSettings) async throws {
        Self.ignoreBrokenPipes
        let (process, input, output) = (Process(), Pipe(), Pipe())
        let (endings, ending) = AsyncStream<Ending>.makeStream()
        process.executableURL = Self.program
        process.arguments = [String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)]
        process.standardInput = input
        process.standardOutput = output
        process.terminationHandler = { process in
            ending.yield(Ending(process))
            ending.finish()
        }
        self.process = process
        self.input = input.fileHandleForWriting
        self.output = LineReader(output.fileHandleForReading)
        termination = Task { await endings.first { _ in true } }
        try process.run()
        _ = try await reply()
    }

    /// Tells it to do something, and does not wait until it is done.
    func tell(_ command: SessionCommand) throws {
        try input.write(contentsOf: JSONEncoder().encode(command) + Data("\n".utf8))
    }

    /// What became of the first command whose outcome is not known yet.
    func reply() async throws -> SessionOutcome {
        guard let line = await output.next() else { throw Silence() }
        return try JSONDecoder().decode(SessionOutcome.self, from: Data(line.utf8))
    }

    /// Tells it to do something, and returns what became of it.
    func ask(_ command: SessionCommand) async throws -> SessionOutcome {
        try tell(command)
        return try await reply()
    }

    /// Tells it to do something, and returns whether a SIGKILL has ended it in the course of that.
    func dies(of command: SessionCommand) async throws -> Bool {
        try tell(command)
        guard await output.next() == nil else { return false }
        return await ending() == .killed
    }

    /// Returns once the process has ended; it is its own matter when.
    func ending() async -> Ending? {
        await termination.value
    }

    /// Ends the process once its commands are carried out, and returns its last outcome: all events since the last
    /// command that waited for one.
    func finish() async throws -> SessionOutcome {
        try input.close()
        let outcome = try await reply()
        _ = await ending()
        return outcome
    }

    /// Kills it, and returns once it is dead. A child that it has started lives on.
    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await ending()
    }

    /// Ends it unless it has ended, and its child as well.
    func end() async {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        try? input.close()
        _ = await ending()
    }

    /// Beside the tests, where the package's programs are built.
    private static var program: URL {
        #if canImport(Darwin)
            let tests = Bundle(for: SessionChild.self).bundleURL
        #else
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        #endif
        return tests.deletingLastPathComponent().appendingPathComponent("session-process")
    }

    /// A command to a process that has died must fail the test, not end it.
    private static let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

extension SessionChild.Ending {
    fileprivate init(_ process: Process) {
        let status = process.terminationStatus
        switch process.terminationReason {
        case .uncaughtSignal where status == SIGKILL: self = .killed
        case .exit where status <= 1: self = .finished(hasFailed: status == 1)
        default: self = .crashed(status: status)
        }
    }
}
