import Foundation
import NautilusOAuth

/// A description of a credential: never a token.
struct CredentialText: CustomStringConvertible {
    let description: String

    init(_ credential: OAuthCredential, of account: NotesAccount, at now: Date = Date()) {
        description = """
            Signed in to \(account.server) as \(account.session.key.client).
              may      \(credential.scope.map(\.description) ?? "whatever the server allows")
              access   \(Self.access(of: credential, at: now))
              kept in  \(account.folder.path)
            """
    }

    private static func access(of credential: OAuthCredential, at now: Date) -> String {
        guard let left = credential.remainingLifetime(at: now) else { return "without end, as far as the server says" }
        let isRefreshable = credential.refreshToken != nil
        guard left > .zero else {
            return "has expired; " + (isRefreshable ? "the next call refreshes it" : "sign in again")
        }
        return "for \(left.rough); " + (isRefreshable ? "the next call after that refreshes it" : "then sign in again")
    }
}

extension Duration {
    /// The duration as people say it: one unit, rounded.
    var rough: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\((seconds + 30) / 60) min"
        case ..<172_800: "\((seconds + 1_800) / 3_600) h"
        default: "\((seconds + 43_200) / 86_400) days"
        }
    }
}
