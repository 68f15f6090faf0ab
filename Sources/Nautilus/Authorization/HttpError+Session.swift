extension HttpError {
    /// Whether the call can succeed only after a sign-in: nobody is signed in, its user has signed out meanwhile
    /// (``RefreshError/signedOut``), or the server has ended the session (``RefreshError/sessionExpired(underlying:)``).
    ///
    /// False when a refresh has failed for now and the same call may succeed later (``isTransient``), and when somebody
    /// else has signed in meanwhile (``isSuperseded``).
    public var requiresSignIn: Bool {
        switch underlying as? RefreshError {
        case .signedOut, .sessionExpired: true
        default: false
        }
    }

    /// Whether somebody else has signed in since the call, the pages, the feed or the web socket began
    /// (``RefreshError/superseded``). There is nothing to tell that user. A sign-out is not meant: it leaves nobody
    /// signed in, and ``requiresSignIn`` is true then.
    public var isSuperseded: Bool {
        if case .superseded? = underlying as? RefreshError { true } else { false }
    }

    /// Whether the session lasts though a refresh has failed, by whatever answer: it is sent again after a cool-down.
    var canRefreshLater: Bool {
        switch underlying as? RefreshError {
        case .failed, .coolingDown: true
        default: false
        }
    }
}

extension HttpError: WrappingError {
    package var wrapped: (any Error)? { underlying }
    package var answeredStatus: Int? { response?.status }
}

extension HttpError: RefreshFailure {
    /// Whether the same call may succeed later without any change: after a failure that ``RetryCondition/standard``
    /// retries, a missed deadline, a refusal on this side, or an authorization that failed for such a reason.
    public var isTransient: Bool {
        switch kind {
        case .deadline, .refused: true
        case .authorization: (underlying as? any RefreshFailure)?.isTransient ?? false
        default: RetryCondition.standard.verdict(for: self).isRetryable
        }
    }
}
