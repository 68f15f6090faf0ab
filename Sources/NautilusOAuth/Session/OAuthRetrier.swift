import Nautilus

/// Stamps each attempt with the session's credential, and answers a rejected one with a fresh one, once.
struct OAuthRetrier: Retrier {
    private var lease: CredentialLease<OAuthSession>
    /// Nil when the call has heard of it.
    private var look: FirstLook?

    static func factory(_ session: OAuthSession) -> AnyRetrierFactory {
        AnyRetrierFactory { OAuthRetrier(session) }
    }

    private init(_ session: OAuthSession) {
        lease = CredentialLease(session)
        look = FirstLook(session)
    }

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        if let look {
            if let found = await look.session() { lease.join(found) }
            self.look = nil
        }
        do {
            try await lease.stamp(&httpRequest, context: context) { credential, request in
                // A token that has to be used in another way must not be used in this one (RFC 6749 §7.1).
                guard credential.tokenType.lowercased() == "bearer" else {
                    throw OAuthError(.malformedReply(reason: "the token's type is not Bearer"))
                }
                request.header[.authorization] = "Bearer \(credential.accessToken)"
            }
        } catch let error as OAuthError {
            throw HttpError(
                .authorization,
                stage: .prepare,
                delivery: .notSent,
                retryAfter: error.retryAfter,
                underlying: error
            )
        }
    }

    mutating func retry<R: Request>(_ request: R, failingWith failure: HttpError) async -> RetryDecision {
        let decision = await lease.decide(after: failure)
        // A fresh token of the same user has no more rights: the app has to ask for them.
        guard case .doNotRetry = decision, lease.grant(carriedBy: failure) != nil, let lack = failure.lack else {
            return decision
        }
        return .fail(with: failure.asAuthorizationFailure(OAuthError(lack)))
    }

    var reason: RetryReason? { lease.reason }
}

/// The look at the store when a call begins: who has signed in elsewhere before it is the user of the call, and who does so
/// later is not.
private final class FirstLook: Sendable {
    private let found: Locked<OAuthSession.Session?>
    private let task: Task<Void, Never>

    init(_ session: OAuthSession) {
        let found = Locked<OAuthSession.Session?>(nil)
        self.found = found
        task = BackgroundTask.start {
            // Of a store that cannot be read the call hears when it asks for its credential.
            guard (try? await session.restore()) != nil else { return }
            found.withLock { $0 = session.session }
        }
    }

    /// The session that was found; nil when the store could not be read, or the call was cancelled meanwhile.
    func session() async -> OAuthSession.Session? {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return found.withLock { $0 }
    }
}

extension HttpError {
    /// What the service's own origin says that the credential lacks: a scope (RFC 6750 §3.1), or an authentication of the
    /// user (RFC 9470 §3); nil when that is not what is wrong.
    fileprivate var lack: OAuthError.Kind? {
        guard let request = exchange?.request ?? request, request.isToServiceOrigin else { return nil }
        guard let response, [401, 403].contains(response.status) else { return nil }
        if let url = response.url, HttpOrigin(url) != request.origin { return nil }
        for challenge in response.header.challenges where challenge.scheme == "bearer" {
            switch challenge["error"]?.lowercased() {
            case "insufficient_scope":
                return .insufficientScope(OAuthScope(parsing: challenge["scope"] ?? ""))
            case "insufficient_user_authentication":
                let values = challenge["acr_values"]?.split(separator: " ").map(String.init) ?? []
                let maxAge = challenge["max_age"].flatMap { UInt32($0) }
                return .insufficientAuthentication(acrValues: values, maxAge: maxAge.map { .seconds(Int64($0)) })
            default: continue
            }
        }
        return nil
    }
}
