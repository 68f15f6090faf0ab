import Foundation
import NautilusOAuth

extension StoredCredential {
    /// The same, received earlier: as it is once that time has passed.
    func aged(by duration: Duration) throws -> StoredCredential {
        let credential = try credential(as: OAuthCredential.self)
        let aged = OAuthCredential(
            accessToken: credential.accessToken,
            refreshToken: credential.refreshToken,
            tokenType: credential.tokenType,
            scope: credential.scope,
            lifetime: credential.lifetime,
            receivedAt: credential.receivedAt - TimeInterval(duration.components.seconds),
            fields: credential.fields
        )
        return try StoredCredential(
            session: session,
            number: number,
            refreshCount: refreshCount,
            credential: aged,
            unanswered: unanswered
        )
    }
}

extension CredentialStore {
    /// Has time pass for a credential, as if it had not been used for so long.
    ///
    /// - Returns: False when there is none, or it is in use.
    func age(_ key: CredentialKey, by duration: Duration) async throws -> Bool {
        guard let lock = try await lock(key) else { return false }
        defer { lock.unlock() }
        guard let stored = try await load(key) else { return false }
        try await save(stored.aged(by: duration), for: key)
        return true
    }
}
