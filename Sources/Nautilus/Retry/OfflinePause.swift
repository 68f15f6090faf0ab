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
    /// With every default.
    public static var standard: OfflinePause { SimulatedSystem.current == nil ? usual : OfflinePause() }

    /// Made once: services make their factory anew for every call.
    private static let usual = OfflinePause(clock: ContinuousClock())

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
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.connectivity = connectivity
        self.longest = longest.clampedToCentury
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

/// How one call has waited for a network so far.
struct OfflineWait: Sendable {
    /// How a wait has ended.
    enum Ending: Hashable, Sendable {
        /// The device is online again.
        ///
        /// - Parameter spread: How much longer the retry waits, so that not all come at once.
        case online(waited: Duration, spread: Duration)
        /// It has waited for as long as it may.
        case stillOffline(waited: Duration)
        case cancelled
    }

    private var spent = Duration.zero
    private var count = 0
    private var lastSpread = Duration.zero

    /// Waits until the device is online, if it is not.
    ///
    /// - Returns: Nil when there is nothing to wait for, or no time left to do so.
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
        // A network that has gone again at once has been there: the next attempt finds out, and waits longer.
        guard waited < left || pause.connectivity.isOnline else { return .stillOffline(waited: waited) }
        count += 1
        lastSpread = pause.spread.delay(beforeRetry: count, previous: lastSpread, random: random)
        spent += lastSpread
        return .online(waited: waited, spread: lastSpread)
    }
}

/// Whether the device has a network at all, and when it has one again.
///
/// ``SystemConnectivity`` asks the system, ``AlwaysOnline`` knows no better, and a ``ConnectivitySwitch`` is told: by a
/// test, or by a monitor of the network.
public protocol Connectivity: Sendable {
    /// Whether requests can leave the device; true when that is unknown.
    var isOnline: Bool { get }

    /// Returns when the device is online; at once when it is.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    func waitUntilOnline() async throws
}

/// Connectivity that never ends: where the network is unknown, and where no device's network is used.
public struct AlwaysOnline: Connectivity {
    /// Creates it; all are the same.
    public init() {}

    /// True.
    public var isOnline: Bool { true }

    /// Returns at once.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitUntilOnline() async throws {
        try Task.checkCancellation()
    }
}

/// Connectivity that is set from outside: by a test, or by a monitor of the network that the system does not have.
///
/// ```swift
/// let connectivity = ConnectivitySwitch(isOnline: false)
/// connectivity.set(isOnline: true)  // every call that waits for it goes on
/// ```
public final class ConnectivitySwitch: Connectivity {
    private struct State {
        var isOnline: Bool
        var waiters = WaitingLine<Waiter<Void>>()
    }

    private let state: Locked<State>

    /// Creates a switch.
    ///
    /// - Parameter isOnline: The state until it is set. Default: true, so that a switch that is never set holds up no
    ///   call.
    public init(isOnline: Bool = true) {
        state = Locked(State(isOnline: isOnline))
    }

    /// The state that was set last.
    public var isOnline: Bool { state.withLock { $0.isOnline } }

    /// How many wait now.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Sets the state; all waiting calls go on when it is true.
    public func set(isOnline: Bool) {
        let waiters = state.withLock { state in
            state.isOnline = isOnline
            return isOnline ? state.waiters.removeAll() : []
        }
        waiters.forEach { $0.resume() }
    }

    /// Returns when it is told that the device is online; at once when it was.
    ///
    /// - Throws: `CancellationError`, at once, when the task is or becomes cancelled.
    public func waitUntilOnline() async throws {
        try await state.wait { state, waiter in
            if !state.isOnline { state.waiters.append(waiter) }
            return state.isOnline
        } joined: { isOnline, waiter in
            if isOnline { waiter.resume() }
        } leave: { state, id in
            state.waiters.remove(id)
        }
    }
}
