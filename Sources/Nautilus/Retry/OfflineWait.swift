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
