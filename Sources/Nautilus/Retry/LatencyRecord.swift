/// A record, by origin, of how long successful requests took; `OriginLatencies` of `NautilusTraffic` is one.
///
/// Shared by all calls that are given the same object, from any task: both methods are atomic, and return at once.
public protocol LatencyRecord: AnyObject, Sendable {
    /// The time that half of the latest attempts to `origin` have not exceeded; nil while there are too few.
    func median(of origin: HttpOrigin) -> Duration?

    /// Records the latency of a successful attempt: the time from its sending to the header of the answer.
    func record(_ latency: Duration, of origin: HttpOrigin)
}
