import Foundation

/// The kind of failure of an attempt, or of a whole call.
public enum FailureKind: Hashable, Sendable {
    /// The caller's task was cancelled.
    case cancelled
    /// The request could not be built.
    case invalidRequest(InvalidRequest)
    /// The network failed.
    case transport(URLError.Code)
    /// One exchange took longer than the request's timeout.
    case timeout(Duration)
    /// The call's deadline passed: this long after it began, its own limit, or the time left to the call around it.
    case deadline(Duration)
    /// The status is not accepted.
    case status(Int)
    /// A redirect leads somewhere it must not.
    case redirect(RedirectRefusal)
    /// The response is larger than the transport takes, in bytes.
    case responseTooLarge(limit: Int)
    /// The body is not what the request decodes.
    case decoding
    /// Held back on this side: a circuit is open, or too many wait.
    case refused(TrafficRefusal)
    /// The service has moved to another origin since the call began.
    case environmentChanged(EnvironmentChange)
    /// There is no credential, or refreshing it failed; the error underneath tells which.
    case authorization
    /// A header, an interceptor, a hook or a retrier threw an error of its own, which lies underneath; the framework's,
    /// URL loading's and cancellations keep their kind.
    case custom
}

extension FailureKind: CustomStringConvertible {
    /// The kind in a few words, without anything that the server or the user has sent.
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidRequest(let reason): reason.description
        case .transport(let code): "network failure (URLError \(code.rawValue))"
        case .timeout(let timeout): "timed out after \(timeout.brief)"
        case .deadline(let deadline): "the deadline of \(deadline.brief) passed"
        case .status(let status): "status \(status)"
        case .redirect(let refusal): refusal.description
        case .responseTooLarge(let limit): "the response is larger than \(limit) bytes"
        case .decoding: "the body does not decode"
        case .refused(let refusal): "not sent: \(refusal)"
        case .environmentChanged(let change): "the service has moved to \(change.place)"
        case .authorization: "not authorized"
        case .custom: "an error of the application"
        }
    }
}
