import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How ``BackoffRetrier`` waits for a network when the device is offline.
///
/// Without a network, attempts fail at once, and a call uses up all of them while a train is still in the tunnel. So
/// the call waits, and goes on when the device is online again. An attempt that found no network does not count as one
/// of the retrier's attempts, and the retry after it takes nothing from the budget: it is the first that can reach the
/// server.
///
/// The call waits only after failures without an answer, that is, network failures and timeouts: an answer proves that
/// the device is online. Requests to the device itself (`localhost`, `127.0.0.1`, `::1`) need no network and never
/// wait.
public struct OfflinePause: Sendable {
    /// A pause with all defaults.
    public static var standard: OfflinePause { ofProcess.value }

    /// Created once, because services create their factory anew for every call.
    private static let ofProcess = OnePerProcess { OfflinePause() }

    let connectivity: any Connectivity
    let longest: Duration
    let spread: Backoff
    let clock: any Clock<Duration>

    /// Creates a pause.
    ///
    /// - Parameters:
    ///   - connectivity: The source that knows whether there is a network. Default: the system, which knows it on
    ///     Apple's platforms; on others the device always counts as online.
    ///   - longest: The longest that one call waits in total, spreads included; the last spread may run over. After
    ///     that, a failure is like any other: it uses up an attempt, and is retried nevertheless, since a source that
    ///     sees no network may be wrong. Default: 60 s, as the cap of `Retry-After`: a caller would rather get the
    ///     error than wait longer. The call's deadline applies as well.
    ///   - spread: How long after the return of the network the retry is made; retry 1 is the call's first wait.
    ///     Default: exponential from 2 s, doubling, up to 20 s, full jitter: a person hardly notices two seconds, but a
    ///     server notices a whole train that comes out of the tunnel. It grows because a network that comes and goes is
    ///     not back yet.
    ///   - clock: The clock of the wait. Default: `ContinuousClock`, since time goes on while the device sleeps.
    public init(
        connectivity: any Connectivity = .system,
        longest: Duration = .seconds(60),
        spread: Backoff = .exponential(base: .seconds(2)),
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.connectivity = connectivity
        self.longest = longest.clampedToCentury
        self.spread = spread
        self.clock = clock
    }

    /// Whether the device is offline, and that may have caused `error`.
    func concerns(_ error: HttpError) -> Bool {
        switch error.kind {
        case .transport, .timeout: error.request?.origin.isLoopback != true && !connectivity.isOnline
        default: false
        }
    }

    /// Returns when the device is online, when `limit` is over, or when the task is cancelled.
    func wait(for limit: Duration) async {
        await withTaskGroup(of: Void.self) { [connectivity, clock] group in
            group.addTask { try? await connectivity.waitUntilOnline() }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}

/// The waiting of one call for a network so far.
struct OfflineWait: Sendable {
    /// How a wait has ended.
    enum Ending: Hashable, Sendable {
        /// The device is online again.
        ///
        /// - Parameter spread: How much longer the retry waits, so that calls do not all come back at once.
        case online(waited: Duration, spread: Duration)
        /// The call has waited as long as it may.
        case stillOffline(waited: Duration)
        case cancelled
    }

    private var spent = Duration.zero
    private var count = 0
    private var lastSpread = Duration.zero

    /// Waits until the device is online, if it is offline.
    ///
    /// - Returns: Nil when there is nothing to wait for, or no time left to wait.
    mutating func pass(
        _ pause: OfflinePause,
        after error: HttpError,
        drawing random: any RandomSource
    ) async -> Ending? {
        let left = pause.longest - spent
        guard left > .zero, pause.concerns(error) else { return nil }
        let stopwatch = Stopwatch(pause.clock)
        await pause.wait(for: left)
        if Task.isCancelled { return .cancelled }
        let waited = min(stopwatch.elapsed, left)
        spent += waited
        // A network that was back only briefly still counts: the next attempt finds out, and then waits longer.
        guard waited < left || pause.connectivity.isOnline else { return .stillOffline(waited: waited) }
        count += 1
        lastSpread = pause.spread.delay(beforeRetry: count, previous: lastSpread, random: random)
        spent += lastSpread
        return .online(waited: waited, spread: lastSpread)
    }
}
