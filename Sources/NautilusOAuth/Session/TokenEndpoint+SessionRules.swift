import Foundation
import Nautilus

extension TokenEndpoint {
    /// The session rules of credentials that come from here; for a `Session` of one's own making.
    ///
    /// - Parameter renewal: How an expired credential is replaced. Default: by its refresh token.
    public func sessionRules(_ renewal: OAuthRenewal = .refreshToken) -> SessionRules<OAuthCredential> {
        var revocation: (@Sendable (OAuthCredential) async throws -> Void)?
        if server.revocationEndpoint != nil { revocation = { try await revoke($0) } }
        return SessionRules(
            stamp: { credential, request in
                // A token that has to be used in another way must not be used in this one (RFC 6749 §7.1).
                guard credential.tokenType.lowercased() == "bearer" else {
                    throw OAuthError(.malformedReply(reason: "the token's type is not Bearer"))
                }
                request.header[.authorization] = "Bearer \(credential.accessToken)"
            },
            lifetime: { $0.remainingLifetime(at: wallClock()) },
            // Asking for another token spends nothing.
            spendsCredential: renewal == .refreshToken,
            classify: { error in (error as? OAuthError).map { RenewalFailure(of: $0) } ?? RenewalFailure(error) },
            lack: { failure -> (any Error)? in failure.lack.map { OAuthError($0) } },
            revoke: revocation,
            renew: { try await renewed($0, by: renewal) }
        )
    }

    private func renewed(_ credential: OAuthCredential, by renewal: OAuthRenewal) async throws -> OAuthCredential {
        do throws(OAuthError) {
            switch renewal {
            case .refreshToken: return try await refresh(credential)
            case .clientCredentials(let scope): return try await clientCredentials(scope: scope)
            }
        } catch {
            guard error.endsSession else { throw error }
            // So that the coordinator's error says why, too.
            throw TerminalRefreshFailure(error.description, underlying: error)
        }
    }
}

extension RenewalFailure {
    fileprivate init(of error: OAuthError) {
        self =
            switch error.kind {
            case .invalidGrant, .noRefreshToken: .ended
            case .answerLost: .answerLost
            case .cancelled: error.httpError.map { $0.delivery != .notSent } ?? false ? .unclear : .notRenewed
            // A gateway has lost the answer of the server behind it.
            case .unavailable: [502, 504].contains(error.httpError?.status) ? .unclear : .notRenewed
            case .malformedReply: error.httpError?.response?.isCutTokenReply ?? false ? .unclear : .notRenewed
            default: .notRenewed
            }
    }
}

extension HttpResponse<Data> {
    /// Whether it says that there is a token, though none can be read from it. A page of a hotel's network says no such
    /// thing.
    fileprivate var isCutTokenReply: Bool {
        (200...299).contains(status)
            && header.values(of: .contentType).first.map { type in
                ["json", "x-www-form-urlencoded"].contains { type.lowercased().contains($0) }
            } ?? false
    }
}
