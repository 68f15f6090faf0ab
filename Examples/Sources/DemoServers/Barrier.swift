/// Holds each task that arrives until it opens: at the `n`th arrival, or by hand.
///
/// A test that needs "all of them at once" waits here for the fact, instead of sleeping and hoping.
public actor Barrier {
    private let opensAt: Int?
    private var isOpen = false
    private var arrivals = 0
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watchers: [(id: Int, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private var lastWatcher = 0

    /// Creates a closed barrier.
    ///
    /// - Parameter opensAt: The arrival that opens it, from 1; nil, the default, to open it by hand alone.
    public init(opensAt: Int? = nil) {
        self.opensAt = opensAt
    }

    /// Returns once the barrier is open. Does not respond to cancellation: its creator opens it.
    public func pass() async {
        arrivals += 1
        for watcher in watchers where watcher.count <= arrivals { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrivals }
        if let opensAt, arrivals >= opensAt { open() }
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    /// Lets everybody pass, from now on.
    public func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }

    /// Returns once `count` have arrived, held or not; at once when the task is cancelled, so that a test whose time is
    /// over ends.
    public func waitForArrivals(_ count: Int) async {
        guard arrivals < count else { return }
        lastWatcher += 1
        let id = lastWatcher
        await withTaskCancellationHandler {
            await withCheckedContinuation { watchers.append((id, count, $0)) }
        } onCancel: {
            Task { await self.removeWatcher(id) }
        }
    }

    private func removeWatcher(_ id: Int) {
        guard let index = watchers.firstIndex(where: { $0.id == id }) else { return }
        watchers.remove(at: index).continuation.resume()
    }
}
