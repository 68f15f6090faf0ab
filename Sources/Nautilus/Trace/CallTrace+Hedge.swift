extension CallTrace {
    /// The result of a slow attempt's second send.
    public enum Hedge: Sendable, Hashable {
        /// It was started this long after the first.
        ///
        /// - Parameter winner: The send whose answer the attempt has taken; nil when both have failed.
        case sent(after: Duration, winner: Sending?)
        /// The attempt was slow enough for one, and none was started.
        case notSent(HedgeObstacle)
    }

    /// One of the two sends of a hedged attempt.
    public enum Sending: String, Sendable, Hashable {
        /// The one that every attempt begins with.
        case first
        /// The hedge.
        case second
    }
}

/// Why a slow attempt was not sent a second time.
public enum HedgeObstacle: Sendable, Hashable {
    /// The request does not allow it.
    case notAllowed
    /// Sent twice, it might act twice: the method is not idempotent, and there is no `Idempotency-Key`.
    case notIdempotent
    /// The body comes in chunks, which only one send can have.
    case streamedBody
    /// Too few attempts have succeeded to know how long is slow.
    case tooFewSamples
    /// The attempt's timeout passes before the hedge's delay.
    case timeoutFirst(Duration)
    /// The time left until the timeout or the deadline is less than an attempt to the origin usually takes.
    case cannotFinish(remaining: Duration, usual: Duration)
    /// The origin has ordered a pause, of which this is left.
    case pause(Duration)
    /// An interceptor of this type would have held back another request.
    case heldBack(by: String)
    /// The retry budget that the calls to the origin share is used up.
    case budget
}

extension CallTrace.Hedge: CustomStringConvertible {
    /// The result, in a few words.
    public var description: String {
        switch self {
        case .sent(let delay, .first): "hedged after \(delay.brief): the first answer came from the first send"
        case .sent(let delay, .second): "hedged after \(delay.brief): the first answer came from the second send"
        case .sent(let delay, nil): "hedged after \(delay.brief): neither send was answered well"
        case .notSent(let obstacle): "not hedged: \(obstacle)"
        }
    }
}

extension HedgeObstacle: CustomStringConvertible {
    /// The obstacle, with its figures.
    public var description: String {
        switch self {
        case .notAllowed: "the request does not allow it"
        case .notIdempotent: "not idempotent, and without an Idempotency-Key"
        case .streamedBody: "the body is a stream"
        case .tooFewSamples: "too few attempts to know what is slow"
        case .timeoutFirst(let timeout): "the timeout of \(timeout.brief) comes first"
        case .cannotFinish(let remaining, let usual):
            "only \(remaining.brief) left for an attempt that usually takes \(usual.brief)"
        case .pause(let pause): "the origin asked all calls to pause, \(pause.brief) left"
        case .heldBack(let interceptor): "\(interceptor) would hold it back"
        case .budget: "the retry budget is used up"
        }
    }
}
