import Foundation
import Nautilus

/// One key of a store, in the words of a session: its errors as ``SessionError``, its lock with a wait.
struct SharedStore<Credential: Codable & Sendable & Equatable>: Sendable {
    typealias Record = SessionRecord<Credential>

    /// The stored record, its credential still as bytes, and its version; both nil when nothing is stored.
    struct Glance: Sendable {
        var stored: StoredCredential?
        var version: CredentialVersion?
        /// Whether what is stored is a session that the server has ended; then ``stored`` is nil.
        var hasExpired = false

        /// The stored record, decoded.
        ///
        /// - Throws: ``SessionError`` of kind ``SessionError/Kind/store(_:)``, which is ``CredentialStoreError/undecodable(type:)``.
        func look() throws(SessionError) -> Snapshot {
            do throws(CredentialStoreError) {
                var record: Record?
                if let stored { record = try Record(stored) }
                return Snapshot(stored: record, version: version, hasExpired: hasExpired)
            } catch {
                throw SessionError(.store(error))
            }
        }
    }

    /// The stored record, decoded, and its version; both nil when nothing is stored.
    struct Snapshot: Sendable {
        var stored: Record?
        var version: CredentialVersion?
        /// Whether what is stored is a session that the server has ended; then ``stored`` is nil.
        var hasExpired = false
    }

    let store: any CredentialStore
    let key: CredentialKey
    let clock: any Clock<Duration>
    let random: any RandomSource
    let sharing: CredentialSharing

    func version() async throws(SessionError) -> CredentialVersion? {
        try await translated { try await store.version(of: key) }
    }

    /// Loads and decodes the stored record.
    func look() async throws(SessionError) -> Snapshot { try await glance().look() }

    /// Loads the stored record, whether or not its credential can be decoded here: enough to end it, or to replace it.
    func glance() async throws(SessionError) -> Glance {
        try await translated {
            // The version first: should the record change in between, the version is the older one, and it is looked at
            // once more.
            let version = try await store.version(of: key)
            let stored = try await store.load(key)
            guard let stored, stored.hasExpired else { return Glance(stored: stored, version: version) }
            return Glance(stored: nil, version: version, hasExpired: true)
        }
    }

    /// Saves, with the lock held.
    ///
    /// - Returns: The record that is stored then; none when another process has ended the session, for which it needs
    ///   no lock.
    func save(_ record: Record) async throws(SessionError) -> Glance {
        try await translated { try await store.save(record.stored(), for: key) }
        return try await glance()
    }

    /// Saves, with the lock held, that the server has ended a session.
    func expire(_ record: Record) async throws(SessionError) {
        let expired = StoredCredential(
            session: record.session,
            number: record.number,
            content: Data(),
            hasExpired: true
        )
        try await translated { try await store.save(expired, for: key) }
    }

    /// Ends a session for all processes, without the lock.
    ///
    /// - Returns: The stored record of the session; nil when there was none.
    func end(_ session: UUID) async throws(SessionError) -> StoredCredential? {
        try await translated { try await store.end(session, for: key) }
    }

    /// Deletes, with the lock held.
    func delete() async throws(SessionError) {
        try await translated { try await store.delete(key) }
    }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - takeKept: Gives the lock if this process has kept it; asked before each try.
    ///   - findsOtherwise: Asked after each vain try whether the lock is still wanted; its answer ends the wait.
    /// - Throws: ``SessionError/Kind/lockTimeout(_:)``, ``SessionError/Kind/cancelled``, and what `findsOtherwise`
    ///   throws.
    func lock<Answer>(
        orKept takeKept: () -> (any CredentialLock)?,
        unless findsOtherwise: () async throws(SessionError) -> Answer?
    ) async throws(SessionError) -> Locking<Answer> {
        let watch = Stopwatch(clock)
        // A refresh takes a tenth of a second: a first look soon, and no more than twenty a second after a while.
        let pauses = Backoff.exponential(base: .milliseconds(5), cap: .milliseconds(50), jitter: .equal)
        for turn in 1... {
            if let lock = takeKept() { return .locked(lock) }
            let lock: (any CredentialLock)? = try await translated { try await store.lock(key) }
            if let lock { return .locked(lock) }
            if let answer = try await findsOtherwise() { return .answered(answer) }
            let left = sharing.lockWait - watch.elapsed
            guard left > .zero else { break }
            try await sleep(for: min(left, pauses.delay(beforeRetry: turn, previous: .zero, random: random)))
        }
        throw SessionError(.lockTimeout(sharing.lockWait))
    }

    /// Sleeps before the next try of something, counted from 1.
    func pause(beforeRetry retry: Int) async throws(SessionError) {
        try await sleep(for: sharing.backoff.delay(beforeRetry: retry, previous: .zero, random: random))
    }

    /// Waits for `work`, but not for longer than `limit`: then it is cancelled, and goes on alone if it does not heed
    /// that. When the caller is cancelled, the work is as well, and is waited for all the same.
    ///
    /// - Returns: Its result; nil when there is none in time.
    func wait<Value: Sendable>(
        atMost limit: Duration,
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
            try? await clock.sleep(for: limit.clampedToCentury)
            ending.finish()
        }
        let wait = BackgroundTask.start { for await _ in end {} }
        await withTaskCancellationHandler {
            await wait.value
        } onCancel: {
            task.cancel()
        }
        task.cancel()
        timer.cancel()
        return result.withLock { $0 }
    }

    private func sleep(for duration: Duration) async throws(SessionError) {
        do {
            try await clock.sleep(for: duration.clampedToCentury)
        } catch {
            throw SessionError(.cancelled)
        }
    }

    private func translated<Value>(_ work: () async throws -> Value) async throws(SessionError) -> Value {
        do {
            return try await work()
        } catch let error as CredentialStoreError {
            throw SessionError(.store(error))
        } catch is CancellationError {
            throw SessionError(.cancelled)
        } catch {
            throw SessionError(.store(.other(type: String(describing: type(of: error)))))
        }
    }
}

/// How a wait for the lock has ended.
enum Locking<Answer> {
    /// With the lock.
    case locked(any CredentialLock)
    /// With an answer that makes the lock unnecessary.
    case answered(Answer)
}
