extension HttpError {
    /// Whether the server has rejected the service's credential, so that a fresh one may help.
    ///
    /// True for a 401 of the service's own origin, with or without challenges. False for everything else, such as a
    /// 403; a 401 of another origin, which has never seen the credential; `insufficient_scope`, since a fresh
    /// credential of the same user has no more rights (RFC 6750 §3.1); and `insufficient_user_authentication`, which
    /// only the user can resolve (RFC 9470).
    ///
    /// If the server says it with another status, such as 419, correct that with ``StatusCorrection``.
    ///
    /// False also once a refresh has failed, whose error then is ``FailureKind/authorization``.
    public var rejectsCredential: Bool {
        guard kind != .authorization, let response, response.status == 401, isOwnAnswer else { return false }
        return !response.header.challenges.contains {
            $0.scheme == "bearer"
                && ["insufficient_scope", "insufficient_user_authentication"].contains($0["error"]?.lowercased())
        }
    }

    /// Whether the service's own server has answered, and has answered the request itself.
    ///
    /// False without an answer; for an answer from another origin, such as a page for maintenance or the login of a
    /// hotel's network; after redirects that left the origin, even if they came back, since they have left the
    /// credential behind; and after a redirect that made a GET of the request: then the request was accepted, and only
    /// the page that it redirects to has answered with this status.
    package var isOwnAnswer: Bool {
        guard let request = exchange?.request ?? request, let response, request.isToServiceOrigin else { return false }
        if let redirects, redirects.leftOrigin || redirects.becameGet { return false }
        return !response.isFromElsewhere(than: request.origin)
    }
}

extension HttpError {
    /// The tag of the session's credential that the failed request carried; nil when it carried none, and when the
    /// failure is not that of an exchange of this call.
    package func credentialTag(of session: CallSession) -> CredentialTag? {
        guard let exchange, exchange.call == call.id else { return nil }
        return exchange.tags.credentialTag(of: session)
    }
}
