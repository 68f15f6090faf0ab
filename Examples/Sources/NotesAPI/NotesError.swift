import Nautilus

/// Why a call of the notes API failed, in the app's words.
public struct NotesError: Error {
    /// The reason, by what the app does about it.
    public enum Reason: Hashable, Sendable {
        /// There is no such note.
        case notFound
        /// The user has to sign in.
        case signedOut
        /// The user is not allowed to, and signing in again would not change it.
        case forbidden
        /// The server asks for patience, is slow or down, or cannot replace the token at present: later.
        case unavailable
        /// There is no way to the server: when the network is back.
        case offline
        /// No caller waits for the call any more: nothing.
        case cancelled
        /// The app and the server disagree: a report to the developers.
        case unexpected
    }

    /// The reason, by what the app does about it.
    public let reason: Reason
    /// The whole story, trace included.
    public let httpError: HttpError

    /// A failed call, with a reason that its service knows better.
    public init(_ reason: Reason, _ error: HttpError) {
        self.reason = reason
        self.httpError = error
    }

    /// A failed call.
    public init(_ error: HttpError) {
        let reason: Reason =
            switch error.kind {
            case .status(404): .notFound
            case .authorization: Self.reason(ofAuthorization: error.underlying as? RefreshError)
            // A new token was rejected as well: a session that the server knows would not be.
            case .status(401) where error.rejectsCredential: .signedOut
            case .status(401), .status(403): .forbidden
            case .status(429), .status(500...599), .deadline, .timeout: .unavailable
            // A transport failure that the framework retries is one of the network; an untrusted certificate is not.
            case .transport where RetryCondition.standard.verdict(for: error).isRetryable: .offline
            case .cancelled: .cancelled
            default: .unexpected
            }
        self.init(reason, error)
    }

    /// Only the end of a session asks for a sign-in: after a refresh that failed for now, the token is still there.
    private static func reason(ofAuthorization error: RefreshError?) -> Reason {
        switch error {
        case .signedOut, .sessionExpired, .superseded: .signedOut
        case .failed, .coolingDown, .timedOut, .tooManyRefreshes: .unavailable
        case .recursive, .foreignOrigin, .insecureOrigin, nil: .unexpected
        }
    }
}

extension NotesError: CustomStringConvertible {
    /// Reason and story.
    public var description: String { "\(reason): \(httpError)" }
}
