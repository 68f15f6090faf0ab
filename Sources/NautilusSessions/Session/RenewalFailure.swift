import Nautilus

/// The state of a credential after its renewal has failed.
public enum RenewalFailure: Hashable, Sendable {
    /// The server has said that the session is over: only the user's sign-in can help.
    case ended
    /// The credential was sent, and no answer came: the server may have renewed it. It is sent once more soon, within
    /// the grace that servers give, and again after each cool-down.
    case answerLost
    /// The answer told nothing, as a gateway's or half of one does: the server may have renewed it. It is sent again
    /// after a cool-down.
    case unclear
    /// The server has not renewed it: nothing has changed.
    case notRenewed

    /// The safe reading of `error`. A session ends only by a `TerminalRefreshFailure`, or by a 401 with which the
    /// renewal's own server rejects what was sent; a 400 or 403 may be about anything, so name those of your server
    /// yourself.
    ///
    /// - `HttpError`: a lost answer when any attempt was sent without one; unclear for 502 and 504, in which a gateway
    ///   has lost the answer, for a success that does not decode, and for a call that was cancelled once it was sent;
    ///   not renewed for all others.
    /// - Any other error: unclear, so that nothing is taken for unspent which may be spent.
    public init(_ error: any Error) {
        self =
            switch error {
            case is TerminalRefreshFailure: .ended
            case let error as HttpError: RenewalFailure(of: error)
            default: .unclear
            }
    }

    private init(of error: HttpError) {
        switch error.kind {
        case .cancelled: self = error.delivery == .notSent ? .notRenewed : .unclear
        case .decoding: self = .unclear
        case .status(502), .status(504): self = .unclear
        case .status where error.rejectsCredential: self = .ended
        default: self = error.hasUnansweredAttempt ? .answerLost : .notRenewed
        }
    }
}

extension HttpError {
    /// Whether the request was sent at least once without any answer, so that the server may have acted on it unseen.
    ///
    /// Earlier attempts count, too: a retrier may have repeated what may have run.
    public var hasUnansweredAttempt: Bool {
        if delivery == .maybeExecuted, response == nil { return true }
        return trace.attempts.contains { attempt in
            switch attempt.outcome {
            case .failed(_, .status, _), .succeeded: false
            case .failed(_, _, let delivery): delivery == .maybeExecuted
            }
        }
    }
}
