extension FailureKind {
    /// Why a request was held back on this side, before anything of it was sent.
    public enum Refusal: Error, Hashable, Sendable {
        /// The origin has failed too often, so nothing is sent to it for now.
        ///
        /// - Parameter nextProbe: How long until one request may probe whether the origin has recovered; nil while a probe
        ///   is under way.
        case circuitOpen(nextProbe: Duration?)
        /// The limit of requests that may wait for the origin is reached.
        case tooManyWaiting(limit: Int)
        /// The server asks for a longer wait than the limit here.
        case waitTooLong(Duration, limit: Duration)
        /// The wait that the server asks for would not end before the call's deadline.
        case waitPastDeadline(Duration, remaining: Duration)

        /// The request accepts only a stored answer, and no stored answer suits it.
        case notStored

        /// How long until it makes sense to come back; nil when that is unknown.
        public var retryAfter: Duration? {
            switch self {
            case .circuitOpen(let nextProbe): nextProbe
            case .tooManyWaiting, .notStored: nil
            case .waitTooLong(let wait, _), .waitPastDeadline(let wait, _): wait
            }
        }
    }
}

extension FailureKind.Refusal: CustomStringConvertible {
    /// The refusal, with its figures.
    public var description: String {
        switch self {
        case .circuitOpen(let nextProbe?): "the circuit is open, the next probe may go in \(nextProbe.brief)"
        case .circuitOpen(nil): "the circuit is open, and its probe under way"
        case .tooManyWaiting(let limit): "\(limit) requests wait already"
        case .waitTooLong(let wait, let limit): "it would wait for \(wait.brief), and waits for \(limit.brief) at most"
        case .notStored: "no stored response fits, and the request allows no other"
        case .waitPastDeadline(let wait, let remaining):
            "it would wait for \(wait.brief), with \(remaining.brief) left until the deadline"
        }
    }
}
