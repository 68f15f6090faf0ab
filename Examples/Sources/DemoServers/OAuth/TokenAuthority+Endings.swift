extension TokenAuthority {
    /// The outcome of a revocation (RFC 7009).
    package enum Revocation: Hashable, Sendable {
        /// The token was good, and is so no more.
        case revoked
        /// It was worthless before, or never issued here.
        case nothingToRevoke
        /// It belongs to another client, and stays as it is.
        case otherClient
    }

    /// The refresh tokens that are neither spent nor revoked, and whose family goes on.
    package var liveRefreshTokens: Set<String> {
        let live = refreshRecords.filter { token, record in
            record.spent == nil && !endedFamilies.contains(record.family) && !revokedAlone.contains(token)
        }
        return Set(live.keys)
    }

    /// Withdraws one token: a refresh token with its whole family unless ``revokesOnlyNamed``, an access token alone
    /// (RFC 7009 §2.1).
    package mutating func revoke(_ token: String, client: String) -> Revocation {
        if let record = refreshRecords[token] {
            guard record.client == client else { return .otherClient }
            if revokesOnlyNamed {
                guard liveRefreshTokens.contains(token) else { return .nothingToRevoke }
                revokedAlone.insert(token)
                return .revoked
            }
            return endedFamilies.insert(record.family).inserted ? .revoked : .nothingToRevoke
        }
        guard let record = accessRecords[token] else { return .nothingToRevoke }
        guard record.client == client else { return .otherClient }
        guard !record.isRevoked, record.family.map(endedFamilies.contains) != true else { return .nothingToRevoke }
        accessRecords[token]?.isRevoked = true
        return .revoked
    }

    /// Ends the family that a refresh token belongs to.
    package mutating func endFamily(of refreshToken: String) {
        guard let family = refreshRecords[refreshToken]?.family else { return }
        endedFamilies.insert(family)
    }

    /// Withdraws every access token issued so far; refresh tokens stay good.
    public mutating func revokeAccessTokens() {
        for token in accessRecords.keys { accessRecords[token]?.isRevoked = true }
    }

    /// Ends the time of every access token issued so far; refresh tokens stay good.
    public mutating func expireAccessTokens(at now: Duration) {
        for (token, record) in accessRecords { accessRecords[token]?.expiry = min(record.expiry, now) }
    }

    /// Ends every family: refresh tokens are worthless, too.
    public mutating func endAllFamilies() {
        endedFamilies.formUnion(refreshRecords.values.map(\.family))
    }
}
