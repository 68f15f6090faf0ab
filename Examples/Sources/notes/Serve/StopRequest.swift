import Foundation

/// When a server is to stop: Ctrl-C, `SIGTERM`, or the end of whoever started it.
struct StopRequest {
    private static let signals = [SIGINT, SIGTERM]

    private let requests: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Listens from now on; the signals no longer end the process.
    init() {
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { request.yield() }
            source.resume()
            return source
        }
        guard Self.hasStarter else { return }
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            request.yield()
        }
    }

    /// Returns once somebody asks to stop. Asking once more ends the process at once.
    func wait() async {
        for await _ in requests { break }
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    /// Whether the standard input is a pipe that a program holds. A terminal belongs to the user, who may use it for
    /// something else, and the empty file that scripts give to programs in the background has ended from the start.
    private static var hasStarter: Bool {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
