import Nautilus

/// A time in which a ``FleetServer`` does not do what it should.
public struct FleetOutage: Hashable, Sendable {
    /// The kind of an outage.
    public enum Kind: Hashable, Sendable {
        /// It takes requests and does no work: a lock that is never released, a database that does not answer. The
        /// queue grows, and is still there when the outage is over.
        case stalled
        /// It works at this share of its speed: 0.5 for every request taking twice as long.
        case slowed(to: Double)
        /// It does not listen: connections are refused, and requests in the queue or at work are lost.
        case unreachable
        /// It answers a share of the requests with a status, without any work: 1 for all of them.
        case failing(status: Int, share: Double)
    }

    /// The kind of the outage.
    public let kind: Kind
    /// When it begins, counted from the simulation's start.
    public let start: Duration
    /// When it is over: the first moment at which all is well.
    public let end: Duration

    /// Creates an outage.
    ///
    /// Of two that overlap and change the server's speed, the one that begins first counts while it lasts.
    ///
    /// - Parameters:
    ///   - kind: The kind of the outage.
    ///   - start: When it begins, counted from the simulation's start; a negative one counts as zero.
    ///   - duration: How long it lasts; a negative one counts as zero.
    public init(_ kind: Kind, from start: Duration, for duration: Duration) {
        self.kind = kind
        self.start = start.addable
        self.end = self.start + duration.addable
    }

    func contains(_ time: Duration) -> Bool {
        start <= time && time < end
    }

    /// The share of its speed at which the server works; nil when the outage does not change it.
    var speed: Double? {
        switch kind {
        case .stalled: 0
        case .slowed(let speed): max(0, speed)
        case .unreachable, .failing: nil
        }
    }
}
