/// Tasks that wait until a count is reached: of sleepers, of attempts.
///
/// A part of its owner's state and guarded by the owner's lock; continuations are resumed after the lock is released.
struct CountWaiters: Sendable {
    typealias Continuation = CheckedContinuation<Void, any Error>

    private var waiting: [(id: Int, count: Int, continuation: Continuation)] = []
    private var lastId = 0

    mutating func makeId() -> Int {
        lastId += 1
        return lastId
    }

    mutating func add(_ continuation: Continuation, id: Int, until count: Int) {
        waiting.append((id: id, count: count, continuation: continuation))
    }

    /// Takes out those who wait for no more than `count`.
    mutating func reached(_ count: Int) -> [Continuation] {
        guard !waiting.isEmpty else { return [] }
        let reached = waiting.filter { $0.count <= count }
        waiting.removeAll { $0.count <= count }
        return reached.map(\.continuation)
    }

    mutating func remove(_ id: Int) -> Continuation? {
        waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0).continuation }
    }
}
