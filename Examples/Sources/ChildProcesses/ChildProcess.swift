import Foundation
import SpawnActions

/// A program in a process of its own: what it prints, line by line, and how it ends.
///
/// By `posix_spawn`. Foundation's `Process` lists the open files with what it reads beyond the end of the list, and dies of
/// that on Linux once this process has some 1350 of them.
public final class ChildProcess: Sendable {
    /// How a process has ended.
    public struct Ending: Hashable, Sendable {
        /// Its exit code; for one that a signal has ended, 128 and the signal's number, as in a shell.
        public let code: Int32
        /// The part of its standard output that was not read from ``ChildProcess/lines``.
        public let output: String
        /// The part of its standard error that was not read from ``ChildProcess/errorLines``.
        public let errors: String
    }

    /// The lines of its standard output, for one reader; ends with the process.
    public let lines: AsyncStream<String>
    /// The lines of its standard error, for one reader; ends with the process.
    public let errorLines: AsyncStream<String>
    private let life: Life
    private let input: FileHandle?
    private let code: Task<Int32, Never>

    /// Starts a program. It inherits no open file but its input, its output and its errors.
    ///
    /// - Parameters:
    ///   - program: Its executable.
    ///   - arguments: Its arguments, the name not included.
    ///   - environment: The differences from this process's environment. Default: nothing.
    ///   - folder: Its working directory. Default: nil, that of this process.
    ///   - input: Its standard input. Default: nil, a pipe that ``closeInput()`` closes.
    ///   - errors: Its standard error. Default: nil, a pipe that ``errorLines`` reads.
    /// - Throws: `POSIXError` when there is no such program, or no such folder.
    public init(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        folder: URL? = nil,
        input: FileHandle? = nil,
        errors: FileHandle? = nil
    ) throws {
        let (inputPipe, outputPipe, errorPipe) = (input == nil ? Pipe() : nil, Pipe(), errors == nil ? Pipe() : nil)
        let files = [
            input ?? inputPipe?.fileHandleForReading, outputPipe.fileHandleForWriting,
            errors ?? errorPipe?.fileHandleForWriting,
        ]
        let life = Life(
            try Self.spawn(
                [program.path] + arguments,
                environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
                folder: folder,
                files: files.compactMap { $0 }
            )
        )
        try? inputPipe?.fileHandleForReading.close()
        try? outputPipe.fileHandleForWriting.close()
        try? errorPipe?.fileHandleForWriting.close()
        self.life = life
        self.input = inputPipe?.fileHandleForWriting
        self.lines = outputPipe.fileHandleForReading.lines
        self.errorLines = errorPipe?.fileHandleForReading.lines ?? AsyncStream { $0.finish() }
        let (ends, ending) = AsyncStream<Int32>.makeStream()
        Thread.detachNewThread {
            ending.yield(life.waitForEnd())
            ending.finish()
        }
        self.code = Task { await ends.first { _ in true } ?? -1 }
    }

    /// Starts a process with no signal blocked, and with `files` for its first descriptors and no others.
    private static func spawn(
        _ arguments: [String],
        environment: [String: String],
        folder: URL?,
        files: [FileHandle]
    ) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
            let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
            let flags = POSIX_SPAWN_SETSIGMASK
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, file) in files.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, Int32(descriptor))
        }
        if let folder { _ = spawn_actions_add_chdir(&actions, folder.path) }
        _ = spawn_actions_add_closefrom(&actions, Int32(files.count))

        // A process that a thread of Dispatch starts would begin with most signals blocked.
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier = pid_t()
        let code = posix_spawn(&identifier, arguments[0], &actions, &attributes, &words, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EAGAIN) }
        return identifier
    }

    /// Writes to its standard input, if that is a pipe of this value's own.
    ///
    /// - Throws: Foundation's error when the process has ended; this one has to ignore SIGPIPE, or ends as well.
    public func write(_ data: Data) throws {
        try input?.write(contentsOf: data)
    }

    /// Closes its standard input, if that is a pipe of this value's own: the process reads its end.
    public func closeInput() {
        try? input?.close()
    }

    /// Sends it a signal, unless it has ended: `SIGTERM`, `SIGINT`.
    public func send(signal: Int32) {
        life.send(signal)
    }

    /// Ends it by SIGKILL, unless it has ended, and returns once it has.
    public func kill() async {
        send(signal: SIGKILL)
        _ = await exitCode
    }

    /// Its exit code once it has ended, though a child of its own may still hold its output; otherwise as
    /// ``Ending/code``.
    public var exitCode: Int32 { get async { await code.value } }

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

/// A child from its start until it has been waited for: then its number may be another process's.
private final class Life: @unchecked Sendable {
    private let identifier: pid_t
    private let lock = NSLock()
    // Unchecked for this alone, which the lock guards.
    private var isOver = false

    init(_ identifier: pid_t) {
        self.identifier = identifier
    }

    func send(_ signal: Int32) {
        lock.withLock { if !isOver { _ = kill(identifier, signal) } }
    }

    /// Waits for its end, and returns its exit code; 128 and the signal's number if one has ended it.
    func waitForEnd() -> Int32 {
        var end = siginfo_t()
        while waitid(P_PID, id_t(identifier), &end, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        return lock.withLock {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1 { guard errno == EINTR else { return -1 } }
            isOver = true
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
}

extension FileHandle {
    /// The input, line by line, until its end. Read by a thread, since a pipe has no end that could be awaited.
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
