import TestSupport

@testable import Nautilus
@testable import NautilusHTTP

/// Authorizes requests as the user of the moment, after all interceptors have seen them. A call that begins while
/// nobody is signed in has no credential.
struct UserRetrier: Retrier {
    /// One for all calls: what a cache asks for again belongs to the session of the first call.
    private static let session = CallSession()

    let user: Locked<String?>

    var credentials: [any CallCredential] {
        guard user.withLock({ $0 != nil }) else { return [] }
        return [
            WrittenCredential(in: Self.session) { [user] request in
                if let user = user.withLock({ $0 }) { request.header[.authorization] = "Bearer \(user)" }
            }
        ]
    }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }

    static func factory(_ user: Locked<String?>) -> AnyRetrierFactory {
        AnyRetrierFactory(sharingKey: SharingKey("user")) { UserRetrier(user: user) }
    }
}
