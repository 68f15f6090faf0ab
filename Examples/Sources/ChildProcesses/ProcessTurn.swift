/// Has the callers that start many processes take turns, in the order in which they come.
///
/// On Linux, Foundation keeps a core busy for each process that waits for an answer. A dozen tests of twenty processes each
/// at the same time would starve all other tests, and one another.
public actor ProcessTurn {
    /// The one turn of this process.
    public static let shared = ProcessTurn()

    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Runs `work` when its turn has come.
    public nonisolated func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        await take()
        do {
            let value = try await work()
            await giveBack()
            return value
        } catch {
            await giveBack()
            throw error
        }
    }

    private func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func giveBack() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isTaken = false
    }
}
