import ChildProcesses
import Foundation

/// One process of a race, or of a storm.
struct Runner: Sendable {
    /// How it went.
    struct Finish: Sendable {
        let hasSucceeded: Bool
        /// From the start signal to the end of the process.
        let time: Duration
        /// The last line of its complaint; nil when it has none.
        let complaint: String?
    }

    private let process: ChildProcess

    /// Starts this program again, to list notes once it hears the start signal.
    ///
    /// - Parameter signal: The program's standard input, the end of which is the start signal.
    init(_ account: NotesAccount, signal: FileHandle) throws {
        let program = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let arguments = ["list", "--wait-for-signal", "--server", account.server, "--store", account.folder.path]
        process = try ChildProcess(program, arguments, input: signal)
    }

    /// Returns once it waits for the start signal, or has ended before that.
    func ready() async {
        _ = await process.lines.first { $0 == StartSignal.ready }
    }

    /// Sends it a signal; only while it cannot have ended.
    func send(signal: Int32) {
        process.send(signal: signal)
    }

    /// Returns once it has ended.
    func finish(startedAt start: ContinuousClock.Instant) async -> Finish {
        let ending = await process.ending()
        return Finish(
            hasSucceeded: ending.code == 0,
            time: start.duration(to: .now),
            complaint: ending.errors.split(separator: "\n").last.map(String.init)
        )
    }
}
