/// One user's time between signing in and signing out; also a time in which nobody is signed in.
///
/// An object: a call takes hold of it when it is bound, and never goes out in another. It ends once, and its first end
/// counts. ``RefreshCoordinator/session`` is the one that is current; a credential of your own may have one that you
/// make and finish yourself.
public final class CallSession: Sendable {
    private struct State: Sendable {
        var end: RefreshError?
        var waiters = WaitQueue<Waiter<Void>>()
        /// The waits that the end cancels.
        var waits: [UInt64: @Sendable () -> Void] = [:]
        var lastWait: UInt64 = 0
    }

    private let state = Locked(State())
    private let onLook: @Sendable () -> Void

    /// Creates a session that goes on.
    ///
    /// - Parameter onLook: Begins to look whether another process has ended the session, without waiting for the outcome;
    ///   called when something is sent or received over an open connection. Default: nothing.
    public init(onLook: @escaping @Sendable () -> Void = {}) { self.onLook = onLook }

    /// The session of credentials that belong to nobody's session.
    static let unending = CallSession()

    /// Begins to look whether another process has ended the session. To be called when something is sent or received over
    /// an open connection; calls look by themselves.
    public func look() { onLook() }

    /// Why the session is over, by its first end, in whichever process: ``RefreshError/signedOut`` when its user has
    /// signed out, ``RefreshError/superseded`` when somebody else has signed in, and
    /// ``RefreshError/sessionExpired(underlying:)`` when the server has ended it. Nil while it goes on.
    public var end: RefreshError? { state.withLock { $0.end } }

    /// Ends the session, and cancels every wait in it; does nothing if it is over already.
    public func finish(_ end: RefreshError) {
        close(end)()
    }

    /// Ends the session, and returns what cancels the waits in it, outside of all locks.
    func close(_ end: RefreshError) -> @Sendable () -> Void {
        if self === Self.unending { return {} }
        let (waiters, waits) = state.withLock { state in
            state.end = state.end ?? end
            defer { state.waits = [:] }
            return (state.waiters.removeAll(), state.waits)
        }
        return {
            for waiter in waiters { waiter.resume() }
            // The first to wait first: a task group of thousands that end in any other order takes their number squared.
            for (_, cancel) in waits.sorted(by: { $0.key < $1.key }) { cancel() }
        }
    }

    /// Does a part of a call that waits, in a task of its own, and cancels it when this session ends. The waits in several
    /// sessions, of a list and of ``CallSessions``, are made of this one.
    ///
    /// - Returns: The value of `work`; also one that it still returns when it is cancelled, such as a slot in a queue, so
    ///   that it can be given back.
    /// - Throws: ``end`` when the session is over; the error of `work`.
    public func wait<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = Locked<Result<Value, any Error>?>(nil)
        let reentered = CallScope.reentering(work)
        let task = BackgroundTask.branch {
            let result: Result<Value, any Error>
            do { result = .success(try await reentered()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
        }
        let number = state.withLock { state -> UInt64? in
            guard state.end == nil else { return nil }
            state.lastWait += 1
            state.waits[state.lastWait] = { task.cancel() }
            return state.lastWait
        }
        if number == nil { task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if let number { state.withLock { _ = $0.waits.removeValue(forKey: number) } }
        do {
            guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
            return try result.get()
        } catch {
            if !Task.isCancelled, let end { throw end }
            throw error
        }
    }

    /// Returns when the session is over, in whichever process, and when the task is cancelled. For work that has to end
    /// with its session, such as an open connection.
    public func waitForEnd() async {
        // A continuation rather than a stream: every open feed and web socket waits here.
        try? await state.wait(in: \.waiters) { $0.end == nil }
    }
}

extension CallSession: Redacted {
    /// Whether the session goes on, or how it has ended; never whose it is.
    public var description: String { end.map { "ended: \($0)" } ?? "goes on" }
}

extension Collection where Element == CallSession {
    /// The end of the first that is over; nil while all go on.
    var end: RefreshError? {
        for session in self { if let end = session.end { return end } }
        return nil
    }

    /// Does a part of a call that waits, in all of these sessions: one wait of ``CallSession`` within the other. A call's own
    /// path waits by this one, and keeps a value that comes in spite of the end.
    func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let first else { return try await work() }
        let others = Array(dropFirst())
        return try await first.wait { others.isEmpty ? try await work() : try await others.wait(work) }
    }
}
