import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How ``BackoffRetrier`` waits for a network when there is none.
///
/// Without one, attempts fail as fast as they are made, and a call has used up all of them in the time that a train is in
/// a tunnel. So it waits, and goes on when the device is online again. An attempt that found no network is none of the
/// retrier's attempts, and its retry takes nothing from the budget: it is the first that can reach the server.
///
/// Only failures without an answer are waited out, failures of the network and timeouts: an answer proves that the
/// device is online. Requests to the device itself (`localhost`, `127.0.0.1`, `::1`) need no network and never wait.
public struct OfflinePause: Sendable {
    /// With every default, made once: services make their factory anew for every call.
    public static let standard = OfflinePause()

    let connectivity: any Connectivity
    let longest: Duration
    let spread: Backoff
    let clock: any Clock<Duration>

    /// Creates a pause.
    ///
    /// - Parameters:
    ///   - connectivity: The source that knows whether there is a network. Default: the system, which knows it on
    ///     Apple's platforms and elsewhere never says that there is none.
    ///   - longest: After how long one call waits no more, its spreads counted in; the last of them may go beyond. Then
    ///     a failure is one as any other: it uses up an attempt, and the retry is made all the same, since a source
    ///     that sees no network may be wrong. Default: 60 s, as the cap of `Retry-After`: a caller would rather hear of
    ///     it. The call's deadline holds beside it.
    ///   - spread: How long after the network has come back the retry is made; retry 1 is the call's first wait. Default:
    ///     exponential from 2 s, doubling, up to 20 s, full jitter: a person hardly notices two seconds, a server notices a
    ///     whole train that comes out of the tunnel. It grows, since a network that comes and goes is no network yet.
    ///   - clock: The clock of the wait. Default: `ContinuousClock`, as time goes on while the device sleeps.
    public init(
        connectivity: any Connectivity = SystemConnectivity(),
        longest: Duration = .seconds(60),
        spread: Backoff = .exponential(base: .seconds(2)),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.connectivity = connectivity
        self.longest = longest.addable
        self.spread = spread
        self.clock = clock
    }

    /// Whether `error` may be one for want of a network, and there is none.
    func concerns(_ error: HttpError) -> Bool {
        switch error.kind {
        case .transport, .timeout: error.request?.origin.isLoopback != true && !connectivity.isOnline
        default: false
        }
    }

    /// Returns when the device is online, when the time is over, and when the task is cancelled.
    func wait(for limit: Duration) async {
        await withTaskGroup(of: Void.self) { [connectivity, clock] group in
            group.addTask { try? await connectivity.waitUntilOnline() }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
