/// How a delay is randomised, so that clients that failed together do not come back together.
///
/// Full and equal jitter are those of "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
public enum Jitter: Hashable, Sendable {
    /// The delay as it is: for tests, and for a single client.
    case none
    /// Anything from nothing to the delay: the least work for a contended server, hence the default.
    case full
    /// Half of the delay, and anything up to the other half: never at once.
    case equal

    func applied(to delay: Duration, drawing random: any RandomSource) -> Duration {
        switch self {
        case .none: delay
        case .full: delay.scaled(by: random.clampedFraction())
        case .equal: delay / 2 + (delay / 2).scaled(by: random.clampedFraction())
        }
    }
}

extension Duration {
    /// A fraction of the duration; never more than all of it, though a Double cannot express every Duration.
    package func scaled(by fraction: Double) -> Duration {
        min(self, self * fraction)
    }
}
