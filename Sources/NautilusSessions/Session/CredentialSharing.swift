import Nautilus

/// How a session shares its credential with other processes; each default comes with its reason.
public struct CredentialSharing: Sendable {
    /// The longest that a process waits for the store's lock.
    public let lockWait: Duration
    /// How often the same refresh sends a credential again after its answer was lost.
    public let lostAnswerRetries: Int
    /// The pauses before a credential is sent again, and before another try to save what could not be saved.
    public let backoff: Backoff

    /// Creates the rules; negative values count as zero.
    ///
    /// - Parameters:
    ///   - lockWait: Default: 30 s, longer than another process's request of 25 s, and than the 15 s of a request that
    ///     meets silence twice; a process that is killed frees the lock at once. Calls of a process that waits in vain
    ///     fail for now.
    ///   - lostAnswerRetries: Default: 1. A server that rotates its tokens may have spent the credential, but a server
    ///     with a grace period answers a second time (RFC 9700 §4.14.2), so it is sent again soon. If that answer is
    ///     lost as well, the refresh fails for now and the credential is kept, since only the server can tell whether
    ///     it is spent; the server is asked once more after each cool-down.
    ///   - backoff: Default: exponential from 1 s to 30 s with equal jitter. A refresh that is given up after 7 s of
    ///     silence, like OAuth's, is sent again after 8 s at most, within a server's usual grace period of ten seconds.
    ///     And a full disk causes no busy loop.
    public init(
        lockWait: Duration = .seconds(30),
        lostAnswerRetries: Int = 1,
        backoff: Backoff = .exponential(base: .seconds(1), cap: .seconds(30), jitter: .equal)
    ) {
        self.lockWait = max(.zero, lockWait)
        self.lostAnswerRetries = max(0, lostAnswerRetries)
        self.backoff = backoff
    }
}
