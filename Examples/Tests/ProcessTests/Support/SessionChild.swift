import ChildProcesses
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

    private let process: ChildProcess

    /// Starts a process, and returns once it is ready for commands.
    init(_ settings: SessionSettings) async throws {
        Self.ignoreBrokenPipes
        let arguments = [String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)]
        process = try ChildProcess(Self.program, arguments, errors: .standardError)
        _ = try await reply()
    }

    /// Tells it to do something, and does not wait until it is done.
    func tell(_ command: SessionCommand) throws {
        try process.write(JSONEncoder().encode(command) + Data("\n".utf8))
    }

    /// Returns the outcome of the first command that has not been answered yet.
    func reply() async throws -> SessionOutcome {
        guard let line = await nextLine() else { throw Silence() }
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
        guard await nextLine() == nil else { return false }
        return await ending() == .killed
    }

    /// Returns once the process has ended; it is its own matter when.
    func ending() async -> Ending {
        Ending(code: await process.exitCode)
    }

    /// Ends the process once its commands are carried out, and returns its last outcome: all events since the last
    /// command that waited for one.
    func finish() async throws -> SessionOutcome {
        process.closeInput()
        let outcome = try await reply()
        _ = await ending()
        return outcome
    }

    /// Kills it, unless it has ended, and returns once it is dead. A child that it has started lives on, and keeps its output.
    func kill() async {
        await process.kill()
    }

    /// Kills it unless it has ended, and ends its child as well.
    func end() async {
        process.send(signal: SIGKILL)
        process.closeInput()
        _ = await ending()
    }

    private func nextLine() async -> String? { await process.lines.first { _ in true } }

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
    fileprivate init(code: Int32) {
        switch code {
        case 128 + SIGKILL: self = .killed
        case 0, 1: self = .finished(hasFailed: code == 1)
        default: self = .crashed(status: code)
        }
    }
}
