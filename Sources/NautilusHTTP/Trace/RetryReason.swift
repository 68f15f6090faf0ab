/// Why a decision was taken, for the trace.
public enum RetryReason: Hashable, Sendable, CustomStringConvertible {
    /// The schedule's delay before this retry, numbered from 1.
    case backoff(retry: Int)
    /// The server's `Retry-After` was longer than the schedule's delay.
    case retryAfter(Duration)
    /// The origin's circuit is open for longer than the schedule's delay.
    case circuitOpen(Duration)
    /// A pause ordered by the origin, whichever call received the order, was longer than the delay would have been.
    case gate(Duration)
    /// The device was offline for this long, and is online again.
    case online(after: Duration)
    /// The device was offline for as long as a call waits for a network, and still is.
    case stillOffline(after: Duration)
    /// The credential was refreshed or replaced; the next attempt carries this generation.
    case credentialReplaced(generation: Int)
    /// Another attempt cannot overcome this kind of failure.
    case notRetryable(String)
    /// The server may have acted on the request, which is not idempotent and has no `Idempotency-Key`.
    case mayHaveExecuted
    /// The retrier's attempts are used up.
    case attemptsUsed(Int)
    /// The retry budget shared by the calls to the origin is used up.
    case budget
    /// `Retry-After` is longer than the retrier's cap.
    case retryAfterOverCap(Duration, cap: Duration)
    /// The delay does not fit into the time left until the call's deadline.
    case deadline(remaining: Duration)
    /// The time left after the delay is less than an attempt to the origin usually takes.
    case cannotFinish(remaining: Duration, usual: Duration)
    /// The body is a one-shot stream that has been read.
    case bodySpent
    /// The call was cancelled.
    case cancelled
    /// The call has made as many attempts as the service allows any call.
    case ceiling(Int)
    /// A retrier's own words.
    case custom(String)

    /// The reason in a few words.
    public var description: String {
        switch self {
        case .backoff(let retry): "backoff, retry \(retry)"
        case .retryAfter(let hint): "Retry-After \(hint.brief)"
        case .circuitOpen(let pause): "the circuit is open for \(pause.brief)"
        case .gate(let pause): "the origin asked all calls to pause, \(pause.brief) left"
        case .online(let absence): "online again after \(absence.brief)"
        case .stillOffline(let absence): "still offline after \(absence.brief)"
        case .credentialReplaced(let generation): "credential replaced, generation \(generation)"
        case .notRetryable(let why): why
        case .mayHaveExecuted: "the server may have acted on it, and it is not idempotent"
        case .attemptsUsed(let count): "all \(count) attempts used"
        case .budget: "the retry budget is used up"
        case .retryAfterOverCap(let hint, let cap): "Retry-After \(hint.brief) is over the cap of \(cap.brief)"
        case .deadline(let remaining): "only \(remaining.brief) left until the deadline"
        case .cannotFinish(let remaining, let usual):
            "only \(remaining.brief) left for an attempt that usually takes \(usual.brief)"
        case .bodySpent: "the one-shot body has been read"
        case .cancelled: "cancelled"
        case .ceiling(let count): "\(count) attempts are the service's limit"
        case .custom(let text): text
        }
    }
}
