import Nautilus
import NautilusTraffic

/// A breaker's change of state, and its time.
struct CircuitChange: Sendable {
    let time: Duration
    let change: CircuitEvent.Change

    /// All changes until the task is cancelled; none without a breaker.
    static func all(
        of events: AsyncStream<CircuitEvent>?,
        since start: ContinuousClock.Instant
    ) async -> [CircuitChange] {
        guard let events else { return [] }
        var changes: [CircuitChange] = []
        for await event in events {
            changes.append(CircuitChange(time: start.duration(to: .now), change: event.change))
        }
        return changes
    }

    var isOpening: Bool { if case .opened = change { true } else { false } }

    /// A line of the log.
    var text: String {
        let what =
            switch change {
            case .opened(let pause): "opened, for \(pause.inSeconds(places: 2)) s"
            case .probed: "one request goes as a probe"
            case .closed: "closed"
            }
        return "\(time.inSeconds(places: 2)) s  \(what)"
    }
}
