import Nautilus

/// Stamps each attempt with the session's credential, and answers a rejected one with a fresh one, once.
struct OAuthRetrier: Retrier {
    private let session: OAuthSession
    /// What the last attempt carried; nil when it carried nothing.
    private var grant: OAuthSession.Grant?
    /// What the call last carried at all: it says in whose session the call began.
    private var lastGrant: OAuthSession.Grant?
    private var hasRefreshed = false
    private(set) var reason: RetryReason?

    static func factory(_ session: OAuthSession) -> AnyRetrierFactory {
        AnyRetrierFactory { OAuthRetrier(session: session) }
    }

    private init(session: OAuthSession) {
        self.session = session
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        grant = nil
        // The token goes to the service's own origin and to no other.
        guard httpRequest.origin == context.serviceOrigin else { return }

        let grant: OAuthSession.Grant
        do {
            grant = try await session.grant(continuing: lastGrant)
            // A token that has to be used in another way must not be used in this one (RFC 6749 §7.1).
            guard grant.credential.tokenType.lowercased() == "bearer" else {
                throw OAuthError(.malformedReply(reason: "the token's type is not Bearer"))
            }
        } catch let error as OAuthError {
            throw HttpError(.authorization, stage: .prepare, delivery: .notSent, underlying: error)
        }
        httpRequest.header[.authorization] = "Bearer \(grant.credential.accessToken)"
        (self.grant, lastGrant) = (grant, grant)
    }

    mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        reason = nil
        guard let grant else { return .doNotRetry }
        // A fresh token of the same user has no more rights: the app has to ask for them.
        if let scope = failure.missingScope {
            return .fail(with: failure.asAuthorizationFailure(OAuthError(.insufficientScope(scope))))
        }
        // Another token does not mend it.
        guard failure.rejectsCredential else { return .doNotRetry }
        // A fresh token that is rejected again is an error, not a loop.
        guard !hasRefreshed else { return .doNotRetry }

        do {
            let fresh = try await session.refresh(rejecting: grant)
            hasRefreshed = true
            reason = .credentialReplaced(generation: fresh.generation)
            return .retry(after: .zero)
        } catch {
            return .fail(with: failure.asAuthorizationFailure(error))
        }
    }
}

extension HttpError {
    /// The scope that the service's own origin asks for (RFC 6750 §3.1), empty when it does not say which; nil when scope
    /// is not what is missing.
    var missingScope: OAuthScope? {
        guard let request, request.isToServiceOrigin, let response, [401, 403].contains(response.status) else {
            return nil
        }
        if let url = response.url, HttpOrigin(url) != request.origin { return nil }
        let challenge = response.header.challenges.first {
            $0.scheme == "bearer" && $0["error"]?.lowercased() == "insufficient_scope"
        }
        return challenge.map { OAuthScope(parsing: $0["scope"] ?? "") }
    }
}
