import Foundation
import Nautilus

/// One key of a store, adapted to a session: errors become ``SessionError``, locking waits, and each operation has a
/// time limit, since an app's own store may hang and ignore cancellation.
struct SharedStore<Credential: Codable & Sendable & Equatable>: Sendable {
    typealias Record = SessionRecord<Credential>

    let store: any CredentialStore
    let key: CredentialKey
    let clock: any Clock<Duration>
    let random: any RandomSource
    let sharing: CredentialSharing
    /// The end of the write in progress; a write that was given up may still happen.
    private let unfinished = Locked<Task<Void, Never>?>(nil)
    let overdue = Locked(OverdueReading())
    private let looks = Locked(LooksUnderWay())

    init(
        store: any CredentialStore,
        key: CredentialKey,
        clock: any Clock<Duration>,
        random: any RandomSource,
        sharing: CredentialSharing
    ) {
        (self.store, self.key, self.clock, self.random, self.sharing) = (store, key, clock, random, sharing)
    }

    /// The longest wait for one operation of the store: as long as for its lock, and long enough for a disk.
    var limit: Duration { max(sharing.lockWait, .seconds(10)) }

    /// Whether a look without the lock shows what was stored last.
    var showsLatest: Bool { store.showsLatest }

    /// Saves, with the lock held, that the server has ended a session.
    func expire(_ record: Record, under lock: any CredentialLock) async throws(SessionError) {
        let expired = StoredCredential(
            session: record.session,
            number: record.number,
            refreshCount: record.refreshCount,
            content: Data(),
            hasExpired: true
        )
        try await write(under: lock) { [store, key] in try await store.save(expired, for: key) }
    }

    /// Ends a session for all processes, without the lock.
    ///
    /// - Returns: The stored record of the session; nil when there was none.
    func end(_ session: UUID) async throws(SessionError) -> StoredCredential? {
        // A caller that is cancelled meanwhile has asked for it all the same.
        let result = Locked<Result<StoredCredential?, SessionError>?>(nil)
        await BackgroundTask.start { [self] in
            let ended: Result<StoredCredential?, SessionError>
            do throws(SessionError) {
                let stored = try await limited(endingWhenCancelled: false) { [store, key] in
                    try await store.end(session, for: key)
                }
                ended = .success(stored)
            } catch {
                ended = .failure(error)
            }
            result.withLock { $0 = ended }
        }.value
        return try result.withLock { $0 }?.get()
    }

    /// Ends a session before this returns, if the store need not wait for that; ``end(_:)`` has to follow.
    func promptEnd(_ session: UUID) {
        // If it fails, `end` says so.
        try? (store as? any PromptStore)?.promptEnd(session, for: key)
    }

    /// Deletes, with the lock held.
    func delete(under lock: any CredentialLock) async throws(SessionError) {
        try await write(under: lock) { [store, key] in try await store.delete(key) }
    }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - takeKept: Gives the lock if this process has kept it; asked before each try.
    ///   - findsOtherwise: Asked after each failed try whether the lock is still wanted; an answer ends the wait.
    /// - Throws: ``SessionError/Kind/lockTimeout(_:)``, ``SessionError/Kind/cancelled``, and what `findsOtherwise`
    ///   throws.
    func lock<Answer>(
        orKept takeKept: () -> (any CredentialLock)?,
        unless findsOtherwise: () async throws(SessionError) -> Answer?
    ) async throws(SessionError) -> Locking<Answer> {
        let watch = Stopwatch(clock)
        // A refresh takes a tenth of a second, so look again soon, but after a while no more than forty times a second.
        let pauses = Backoff.exponential(base: .milliseconds(5), cap: .milliseconds(50), jitter: .equal)
        for turn in 1... {
            if let lock = takeKept() { return .locked(lock) }
            // A lock that arrives after the wait is freed along with its object.
            let lock = try await limited { [store, key] in try await store.lock(key) }
            if let lock { return .locked(lock) }
            if let answer = try await findsOtherwise() { return .answered(answer) }
            let left = sharing.lockWait - watch.elapsed
            guard left > .zero else { break }
            try await sleep(for: min(left, pauses.delay(beforeRetry: turn, previous: .zero, random: random)))
        }
        throw SessionError(.lockTimeout(sharing.lockWait))
    }

    /// The lock; nil when it does not come in time.
    func lockInTime() async -> (any CredentialLock)? {
        guard case .locked(let lock)? = try? await lock(orKept: { nil }, unless: { nil as Void? }) else { return nil }
        return lock
    }

    /// The lock, if it is free now.
    func lockIfFree() async -> (any CredentialLock)? {
        (try? await limited { [store, key] in try await store.lock(key) }) ?? nil
    }

    /// Sleeps before a retry; retries are counted from 1.
    func pause(beforeRetry retry: Int) async throws(SessionError) {
        try await sleep(for: sharing.backoff.delay(beforeRetry: retry, previous: .zero, random: random))
    }

    /// Gives a lock back, but only after the last write under it has ended: a write that was given up may still happen,
    /// and must not undo what the next holder of the lock saves.
    ///
    /// - Parameter isKept: Whether the lock is kept after all, asked once that write has ended. Default: false.
    func unlock(_ lock: any CredentialLock, unless isKept: @escaping @Sendable () -> Bool = { false }) {
        guard let write = unfinished.withLock({ $0 }) else { return lock.unlock() }
        BackgroundTask.start {
            await write.value
            if !isKept() { lock.unlock() }
        }
    }

    /// Waits for `work`, but no longer than `limit`; then `work` is cancelled, and goes on alone if it ignores that.
    /// When the caller is cancelled, so is `work`.
    ///
    /// - Parameters:
    ///   - endsWhenCancelled: Whether the wait ends at once when the caller is cancelled. Default: false, `work` is
    ///     waited for all the same.
    ///   - isLook: Whether ``interruptLooks()`` ends the wait. Default: false.
    /// - Returns: The result of `work`; nil when it did not come in time.
    func wait<Value: Sendable>(
        atMost limit: Duration,
        endingWhenCancelled endsWhenCancelled: Bool = false,
        isLook: Bool = false,
        for work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let result = Locked<Value?>(nil)
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        let task = BackgroundTask.start {
            let value = await work()
            result.withLock { $0 = value }
            ending.finish()
        }
        let timer = BackgroundTask.start {
            try? await clock.sleep(untilLimitOf: limit.clampedToCentury)
            ending.finish()
        }
        let look = isLook ? looks.withLock { $0.begin(ending) } : nil
        defer { if let look { looks.withLock { $0.endings[look] = nil } } }
        let wait = BackgroundTask.start { for await _ in end {} }
        await withTaskCancellationHandler {
            await wait.value
        } onCancel: {
            task.cancel()
            if endsWhenCancelled { ending.finish() }
        }
        task.cancel()
        timer.cancel()
        return result.withLock { $0 }
    }

    /// How often looks have been interrupted.
    var interruptions: Int { looks.withLock { $0.interruptions } }

    /// Ends the looks that are under way, as if their callers had left: what they would find no longer matters.
    func interruptLooks() {
        let endings = looks.withLock { looks in
            looks.interruptions += 1
            return looks.endings.values
        }
        for ending in endings { ending.finish() }
    }

    private func sleep(for duration: Duration) async throws(SessionError) {
        do {
            try await clock.sleep(for: duration.clampedToCentury)
        } catch {
            throw SessionError(.cancelled)
        }
    }

    /// Performs one operation of the store within the time limit.
    ///
    /// - Parameters:
    ///   - endsWhenCancelled: Whether the operation is given up when the caller is cancelled, as a look is, since a
    ///     call waits for it. Default: true.
    ///   - isLook: Whether ``interruptLooks()`` ends it as well. Default: false.
    /// - Throws: ``SessionError/Kind/storeTimeout(_:)``; ``SessionError/Kind/cancelled``; the store's errors.
    func limited<Value: Sendable>(
        endingWhenCancelled endsWhenCancelled: Bool = true,
        isLook: Bool = false,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws(SessionError) -> Value {
        let interruptions = looks.withLock { $0.interruptions }
        let outcome = await wait(atMost: limit, endingWhenCancelled: endsWhenCancelled, isLook: isLook) {
            () async -> Result<Value, SessionError> in
            do throws(SessionError) {
                return .success(try await translated(work))
            } catch {
                return .failure(error)
            }
        }
        if let outcome { return try outcome.get() }
        let hasEnded =
            endsWhenCancelled && Task.isCancelled || isLook && looks.withLock { $0.interruptions } != interruptions
        throw SessionError(hasEnded ? .cancelled : .storeTimeout(limit))
    }

    /// Saves or deletes within the time limit. Fails while a write that was given up still hangs, since it may happen
    /// yet and the later write has to count; and fails without the lock, since another process may have written
    /// meanwhile.
    func write(
        under lock: any CredentialLock,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws(SessionError) {
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        let isFree = unfinished.withLock { write in
            guard write == nil else { return false }
            write = BackgroundTask.start { for await _ in end {} }
            return true
        }
        guard isFree else { throw SessionError(.storeTimeout(limit)) }
        try await limited(endingWhenCancelled: false) { [unfinished] in
            defer {
                unfinished.withLock { $0 = nil }
                ending.finish()
            }
            guard lock.isHeld else { throw SessionError(.lockLost) }
            try await work()
        }
    }

    func translated<Value>(_ work: () async throws -> Value) async throws(SessionError) -> Value {
        do {
            return try await work()
        } catch let error as CredentialStoreError {
            throw SessionError(.store(error))
        } catch let error as SessionError {
            throw error
        } catch is CancellationError {
            throw SessionError(.cancelled)
        } catch {
            throw SessionError(.store(.other(type: String(describing: type(of: error)))))
        }
    }
}

/// The looks at a store for which calls wait.
private struct LooksUnderWay: Sendable {
    var interruptions = 0
    /// Ends each of them.
    var endings: [UInt64: AsyncStream<Never>.Continuation] = [:]
    private var last: UInt64 = 0

    /// - Returns: The number of the look.
    mutating func begin(_ ending: AsyncStream<Never>.Continuation) -> UInt64 {
        last += 1
        endings[last] = ending
        return last
    }
}

/// How a wait for the lock ended.
enum Locking<Answer> {
    /// With the lock.
    case locked(any CredentialLock)
    /// With an answer that makes the lock unnecessary.
    case answered(Answer)
}
