/// Something that happens once, for the tasks that wait for it.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let source: AsyncStream<Void>.Continuation

    init() {
        (stream, source) = AsyncStream.makeStream(of: Void.self)
    }

    func fire() { source.finish() }

    /// Returns once it has happened. For one task.
    func wait() async {
        for await _ in stream {}
    }
}

/// Lets no task go on before all have come.
actor Barrier {
    private let count: Int
    private var arrived = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        self.count = count
    }

    func arrive() async {
        arrived += 1
        guard arrived < count else {
            waiting.forEach { $0.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}
