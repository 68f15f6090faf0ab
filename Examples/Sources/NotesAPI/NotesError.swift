import Nautilus

/// Why a call of the notes API failed, in the app's words.
public struct NotesError: Error {
    /// What the app does about it.
    public enum Reason: Hashable, Sendable {
        /// There is no such note.
        case notFound
        /// The user has to sign in.
        case signedOut
        /// The server asks for patience, or is down: later.
        case unavailable
        /// There is no way to the server: when the network is back.
        case offline
        /// Nobody waits for the call any more: nothing.
        case cancelled
        /// The app and the server disagree: a report to the developers.
        case unexpected
    }

    /// What the app does about it.
    public let reason: Reason
    /// The whole story, trace included.
    public let httpError: HttpError

    init(_ error: HttpError) {
        self.httpError = error
        self.reason =
            switch error.kind {
            case .status(404): .notFound
            case .status(401), .authorization: .signedOut
            case .status(429), .status(500...599), .deadline: .unavailable
            case .transport, .timeout: .offline
            case .cancelled: .cancelled
            default: .unexpected
            }
    }
}

extension NotesError: CustomStringConvertible {
    /// Reason and story.
    public var description: String { "\(reason): \(httpError)" }
}
