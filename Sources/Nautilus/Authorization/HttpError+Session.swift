extension HttpError {
    /// Whether nobody is signed in, so that the call can succeed only after a sign-in.
    ///
    /// False while the session goes on: when a refresh has failed for now and the same call may succeed later
    /// (``isTransient``), and when a sign-in or sign-out has overtaken the call (``isSuperseded``).
    public var requiresSignIn: Bool {
        switch underlying as? RefreshError {
        case .signedOut, .sessionExpired: true
        default: false
        }
    }

    /// Whether the session in which the call, the pages, the feed or the web socket began is over: its user has signed
    /// out meanwhile, or another user has signed in (``RefreshError/superseded``). There is nothing to tell the user.
    public var isSuperseded: Bool {
        if case .superseded? = underlying as? RefreshError { true } else { false }
    }

    /// This failure as one of authorization: the same response, the refresh's error underneath, and as ``retryAfter``
    /// the time after which the refresh may succeed.
    public func asAuthorizationFailure(_ underlying: any Error) -> HttpError {
        var error = self
        error.kind = .authorization
        error.underlying = underlying
        error.retryAfter = (underlying as? any RefreshFailure)?.retryAfter ?? retryAfter
        return error
    }
}
