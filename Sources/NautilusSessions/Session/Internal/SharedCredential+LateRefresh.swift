import Foundation
import Nautilus

/// A refresh's request, which outlives the refresh if the session ends meanwhile.
///
/// A server may have refreshed the credential before anybody here can stop the request. If the request were cut off,
/// what the server has made would stay alive, and nobody would know of it. So the refresh leaves at once and gives the
/// store's lock back, but the request goes on, and the server is asked to forget what it brings.
extension SharedCredential {
    /// The refreshed record; nil if the session has ended meanwhile, and the request goes on without the refresh.
    ///
    /// - Throws: The error of the request, which is cancelled with the refresh if the session goes on.
    func refreshed(_ base: Record) async throws -> Record? {
        // Nothing is sent by then.
        if Task.isCancelled { return try await sent(base) }
        let request = LateRequest<Record>()
        state.withLock { $0.refreshes += 1 }
        let task = BackgroundTask.start { [self] in
            // Of its own, since the refresh may end before.
            let result = await CredentialWork.run(isWanted: { !request.isLeft }) {
                () async -> Result<Record, any Error> in
                do { return .success(try await sent(base)) } catch { return .failure(error) }
            }
            if request.end(with: result), case .success(let late) = result { revokeLate(late) }
            state.withLock { $0.refreshes -= 1 }
        }
        // At once: whoever ends the session may wait for what it leaves behind before this task goes on.
        background.add(task)
        await request.wait()
        if request.result == nil {
            // Whoever cancels the refresh may still be changing the state.
            let isOver = changes.withLock { state.withLock { $0.record?.session != base.session } }
            if isOver, request.leave() { return nil }
            task.cancel()
            await task.value
        }
        return try request.result?.get()
    }

    private func sent(_ base: Record) async throws -> Record {
        let fresh = Record.Encoded(try await rules.refresh(base.credential))
        return base.replacing(fresh, cameExpired: rules.lifetime(fresh.credential).map { $0 <= .zero } ?? false)
    }

    /// Keeps a credential that nobody has taken until nobody is signed in: while somebody is, that may be the same
    /// user, and some servers end everything that a user has granted when one credential is revoked.
    func spare(_ credential: Credential) {
        guard rules.revoke != nil else { return }
        if state.withLock({ $0.record == nil }) { return revokeInBackground(credential, sparingOthers: true) }
        state.withLock { $0.spared.append(credential) }
    }

    /// Has the server forget the credentials that were kept while somebody was signed in, unless somebody is again.
    func revokeSpared() {
        let spared = state.withLock { state -> [Credential] in
            guard state.record == nil else { return [] }
            defer { state.spared = [] }
            return state.spared
        }
        for credential in spared { revokeInBackground(credential, sparingOthers: true) }
    }

    /// Waits for the requests that have outlived their sessions, and for revocations that nobody waits for, but no
    /// longer than a revocation may take. Not within such work itself.
    ///
    /// - Parameter includesChecks: Whether to wait as well for revocations that first make sure that nobody has signed
    ///   in elsewhere. Default: false, since that takes half a minute.
    func finishBackground(includingChecks includesChecks: Bool = false) async {
        guard !CredentialWork.isActive else { return }
        let hasEnded = await store.wait(atMost: .seconds(60), endingWhenCancelled: includesChecks) { [background] in
            await background.finish()
            return true
        }
        // The next sign-out, perhaps another user's, does not wait once more for what hangs.
        if hasEnded == nil, !Task.isCancelled { background.forget() }
        guard includesChecks else { return }
        let limit = store.limit * 2 + .seconds(60)
        for work in [signOuts, checks] {
            _ = await store.wait(atMost: limit, endingWhenCancelled: true) { await work.finish() }
        }
    }
}

/// A request for which its caller waits until it is cancelled.
private final class LateRequest<Value: Sendable>: Sendable {
    private enum State {
        case running
        case ended(Result<Value, any Error>)
        case left
    }

    private let state = Locked(State.running)
    private let signal = AsyncStream.makeStream(of: Never.self)

    /// The result; nil while there is none, and when the caller has left.
    var result: Result<Value, any Error>? {
        state.withLock { if case .ended(let result) = $0 { result } else { nil } }
    }

    /// Whether the caller has left.
    var isLeft: Bool {
        state.withLock { if case .left = $0 { true } else { false } }
    }

    /// - Returns: Whether the caller has left.
    func end(with result: Result<Value, any Error>) -> Bool {
        defer { signal.continuation.finish() }
        return state.withLock { state in
            if case .left = state { return true }
            state = .ended(result)
            return false
        }
    }

    /// - Returns: Whether the request has not ended yet, and goes on without its caller.
    func leave() -> Bool {
        state.withLock { state in
            guard case .running = state else { return false }
            state = .left
            return true
        }
    }

    /// Returns when the request has ended, and when the task is cancelled.
    func wait() async {
        let stream = signal.stream
        let waiting = BackgroundTask.start { for await _ in stream {} }
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            signal.continuation.finish()
        }
    }
}

/// Work that goes on when nobody waits for it.
final class BackgroundWork: Sendable {
    private struct Tasks {
        var last = 0
        var running: [Int: Task<Void, Never>] = [:]
    }

    private let tasks = Locked(Tasks())

    /// Adds a task, which is forgotten once it has ended.
    func add(_ task: Task<Void, Never>) {
        let number = tasks.withLock { tasks in
            tasks.last += 1
            tasks.running[tasks.last] = task
            return tasks.last
        }
        BackgroundTask.start { [tasks] in
            await task.value
            tasks.withLock { $0.running[number] = nil }
        }
    }

    /// Forgets all tasks, which go on.
    func forget() { tasks.withLock { $0.running = [:] } }

    /// Waits until there is no task left, including those that are added meanwhile.
    func finish() async {
        while let (number, task) = tasks.withLock({ $0.running.first }), !Task.isCancelled {
            await task.value
            tasks.withLock { $0.running[number] = nil }
        }
    }
}
