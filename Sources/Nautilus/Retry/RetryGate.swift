/// A gate for retries: closed while a refresh is in flight, or while a pause ordered by the origin lasts.
///
/// Shared by all calls of a service. `RefreshCoordinator` is one; for services without credentials, use `OriginPauses`.
public protocol RetryGate: Sendable {
    /// Returns once nothing holds back a retry to `origin`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func pass(to origin: HttpOrigin) async throws

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is already running stays.
    func close(_ origin: HttpOrigin, for pause: Duration)

    /// The rest of the pause that `origin` ordered; zero when there is none.
    func remainingPause(of origin: HttpOrigin) -> Duration

    /// The gate for anonymous calls, with the same pauses but without waits for a refresh. Default: this
    /// gate.
    var anonymous: any RetryGate { get }
}
