extension HttpError {
    /// Whether the server has rejected the service's credential, so that a fresh one may help.
    ///
    /// True for a 401 of the service's own origin, with or without challenges. False for everything else: a 403, a 401
    /// of another origin, which has never seen the credential, `insufficient_scope`, since a fresh credential of the same user
    /// has no more rights (RFC 6750 §3.1), and `insufficient_user_authentication`, which only the user can mend (RFC 9470).
    ///
    /// It speaks of the ``exchange`` that failed, which may be another one than the attempt's own: ``CredentialLease`` looks
    /// which one that is before it has the attempt repeated.
    public var rejectsCredential: Bool {
        guard let request = exchange?.request ?? request, let response, response.status == 401 else { return false }
        guard request.isToServiceOrigin else { return false }
        // A redirect has led elsewhere, perhaps and back, and the credential was left behind; or the request itself was
        // accepted, and what rejects the credential is only the page that it leads to.
        if let redirects, redirects.leftOrigin || redirects.becameGet { return false }
        if let url = response.url, HttpOrigin(url) != request.origin { return false }
        return !response.header.challenges.contains {
            $0.scheme == "bearer"
                && ["insufficient_scope", "insufficient_user_authentication"].contains($0["error"]?.lowercased())
        }
    }

    /// This failure as one of authorization: the same response, with the refresh's error underneath, and the time after
    /// which that may have passed as ``retryAfter``.
    public func asAuthorizationFailure(_ underlying: any Error) -> HttpError {
        var error = self
        error.kind = .authorization
        error.underlying = underlying
        error.retryAfter = (underlying as? any RefreshFailure)?.retryAfter ?? retryAfter
        return error
    }
}
