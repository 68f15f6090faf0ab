import Nautilus

/// A schedule of the experiment.
enum ContentionSchedule: String, CaseIterable, Sendable {
    case none
    case exponential
    case equal
    case full
    case decorrelated

    private static let cap = Duration.seconds(2)

    /// The published simulator's base is 5 ms, and its first exponential delay twice that.
    var backoff: Backoff {
        switch self {
        case .none: .constant(.zero)
        case .exponential: .exponential(base: .milliseconds(10), cap: Self.cap, jitter: .none)
        case .equal: .exponential(base: .milliseconds(10), cap: Self.cap, jitter: .equal)
        case .full: .exponential(base: .milliseconds(10), cap: Self.cap, jitter: .full)
        case .decorrelated: .decorrelated(base: .milliseconds(5), cap: Self.cap)
        }
    }

    /// About how many writes the published simulator counts with a hundred clients.
    var publishedWrites: Int {
        switch self {
        case .none: 2420
        case .exponential: 1850
        case .equal: 810
        case .full: 800
        case .decorrelated: 1000
        }
    }
}
