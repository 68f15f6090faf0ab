/// A gate that retries pass: closed while a refresh is in flight, or while the origin has ordered a pause.
///
/// Shared by all calls of a service. `RefreshCoordinator` is one; `OriginPauses` is one for services without credentials.
public protocol RetryGate: Sendable {
    /// Returns once nothing holds back a retry to `origin`.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func pass(to origin: HttpOrigin) async throws

    /// Holds back all retries to `origin` for at least `pause`; a longer pause that is running stays.
    func close(_ origin: HttpOrigin, for pause: Duration)

    /// The rest of the pause that `origin` ordered; zero when there is none.
    func remainingPause(of origin: HttpOrigin) -> Duration
}
