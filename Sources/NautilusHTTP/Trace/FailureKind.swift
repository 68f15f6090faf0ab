import Foundation

/// The kind of failure of an attempt, or of a whole call.
public enum FailureKind: Hashable, Sendable {
    /// The caller's task was cancelled.
    case cancelled
    /// The request could not be built.
    case invalidRequest(HttpRequest.Invalid)
    /// The network failed.
    case transport(URLError.Code)
    /// One exchange took longer than the request's timeout.
    case timeout(Duration)
    /// The call's deadline passed, this long after the call began: its own limit, or what the enclosing call had left.
    case deadline(Duration)
    /// The status is not accepted.
    case status(Int)
    /// A redirect that is not followed.
    case redirect(FailureKind.RedirectRefusal)
    /// The response is larger than the transport takes, in bytes.
    case responseTooLarge(limit: Int)
    /// The request could not decode the body.
    case decoding
    /// Held back on this side, for instance because a circuit is open, or too many requests are waiting.
    case refused(FailureKind.Refusal)
    /// The service has moved to another origin or path since the call began.
    case environmentChanged(FailureKind.EnvironmentChange)
    /// There is no credential, refreshing it failed, or the call's session is over; the underlying error tells which.
    case authorization
    /// A header, an interceptor, a hook or a retrier threw an error of its own, which lies underneath. Errors of the
    /// framework and of URL loading, and cancellations, keep their kind instead.
    case custom
}

extension FailureKind: CustomStringConvertible {
    /// The kind in a few words, without anything that the server or the user has sent.
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidRequest(let reason): reason.description
        case .transport(let code): "\(code.reason) (URLError \(code.rawValue))"
        case .timeout(let timeout): "timed out after \(timeout.brief)"
        case .deadline(let deadline): "the deadline of \(deadline.brief) passed"
        case .status(let status): "status \(status)"
        case .redirect(let refusal): refusal.description
        case .responseTooLarge(let limit): "the response is larger than \(limit) bytes"
        case .decoding: "the body does not decode"
        case .refused(let refusal): "not sent: \(refusal)"
        case .environmentChanged(let change): "the service has moved to \(change.place)"
        case .authorization: "not authorized"
        case .custom: "thrown by your code"
        }
    }
}

extension FailureKind {
    /// Why a redirect was not followed.
    public enum RedirectRefusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// There were more redirects than one attempt follows.
        case tooMany(limit: Int)
        /// It leads back to a place where the attempt has been.
        case loop
        /// It leads from `https` to `http`.
        case downgrade
        /// Its `Location` is not an http or https URL.
        case invalidLocation
        /// It asks to send a one-shot body again.
        case bodySpent
        /// It asks to send the body to another origin, but the request keeps its body at the origin that it was sent to
        /// (`Request.allowsBodyAcrossOrigins`). Or the request brings, refreshes or revokes a credential, which no
        /// other origin may answer.
        case bodyAcrossOrigins

        /// The refusal, and its remedy if there is one.
        public var description: String {
            switch self {
            case .tooMany(let limit): "more than \(limit) redirects"
            case .loop: "the redirects lead in a circle"
            case .downgrade: "the redirect leads from https to http"
            case .invalidLocation: "the redirect's Location is not an http or https URL"
            case .bodySpent:
                "the redirect asks for the body again, which is a one-shot stream; declare it with a factory"
            case .bodyAcrossOrigins:
                "the redirect leads to another origin, where neither the request's body goes nor a credential comes from"
            }
        }
    }
}

extension FailureKind {
    /// A move of a service to another origin, or to another path of the same one, while a call was under way; it
    /// happens to services whose base URL follows a switch.
    ///
    /// The call belongs to the place where it began, and ends; nothing of it is sent to the other one. Calls that
    /// continue one another, such as those for a list's pages or an event stream's connections, count as one call here.
    public struct EnvironmentChange: Error, Hashable, Sendable {
        /// The origin where the call began.
        public let from: HttpOrigin
        /// The present origin of the service, or of the request.
        public let to: HttpOrigin

        /// Creates a change.
        public init(from: HttpOrigin, to: HttpOrigin) {
            (self.from, self.to) = (from, to)
        }
    }
}

extension FailureKind.EnvironmentChange: PrintableError {
    /// Both origins, and what to do about it.
    public var description: String {
        "The service has moved from \(from) to \(place) while the call was under way; start it again for the present environment."
    }

    /// Where the service is now, without the path, which would not help a reader.
    var place: String { from == to ? "another environment at \(to)" : "\(to)" }
}

/// The stage of a call's path at which something failed.
public enum CallStage: String, Hashable, Sendable {
    /// A hook threw before anything was built.
    case hook
    /// Headers, URL and body did not form a valid request.
    case build
    /// An interceptor threw.
    case intercept
    /// The retrier could not prepare the request: it had no credential, for instance.
    case prepare
    /// The exchange failed.
    case send
    /// A redirect was refused.
    case redirect
    /// The status was not accepted.
    case validate
    /// The body did not decode.
    case decode
    /// The failure came between two attempts, in the retrier's decision or the delay.
    case retry
}
