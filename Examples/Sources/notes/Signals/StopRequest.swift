import Foundation

/// When a server is to stop: on Ctrl-C, on `SIGTERM`, or at the end of the program that started it.
struct StopRequest {
    private let requests: AsyncStream<Void>
    private let interruption: Interruption

    /// Listens from now on.
    init() {
        let (requests, request) = AsyncStream<Void>.makeStream()
        self.requests = requests
        interruption = Interruption { request.yield() }
        guard Self.hasStarter else { return }
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            request.yield()
        }
    }

    /// Returns once somebody asks to stop.
    func wait() async {
        for await _ in requests { break }
        interruption.end()
    }

    /// Whether the standard input is a pipe that a program holds. A terminal belongs to the user, who may use it for
    /// something else, and the empty file that scripts give to programs in the background has ended from the start.
    private static var hasStarter: Bool {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
