/// The counts of a fleet in one second of a ``FleetReport``.
public struct FleetSecond: Hashable, Sendable {
    /// Its number, from 0: second 3 is from 3 s to 4 s.
    public let number: Int
    /// Calls that began.
    public internal(set) var begun = 0
    /// Requests that were sent, first ones and retries: the load on the server.
    public internal(set) var sends = 0
    /// Calls that ended with a result: the goodput.
    public internal(set) var succeeded = 0
    /// Calls that ended with an error.
    public internal(set) var failed = 0
    /// Requests that the server sent away or lost without any work.
    public internal(set) var refused = 0
    /// Requests whose caller hung up: the server's work for them is wasted.
    public internal(set) var abandoned = 0
    /// Of the calls that began, how many were to succeed, then or later.
    public internal(set) var kept = 0

    init(number: Int) {
        self.number = number
    }
}
