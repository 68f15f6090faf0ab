import Foundation
import Nautilus

/// Where each session's credential has gone first, for all session objects of the process: two of them have one record where
/// two environments have one key, and must not carry its credential from one to the other.
///
/// Another launch learns it anew, as `CredentialOrigins.first` does, so that an API may move to another host.
final class SessionOrigins: Sendable {
    static let ofProcess = SessionOrigins()

    /// More than a process has users at once; then all are learned anew.
    private static let maxCount = 10_000

    private let origins = Locked<[UUID: HttpOrigin]>([:])

    /// Where the credential of a session has gone first: `origin`, if nothing is known of another.
    func first(for session: UUID, orNow origin: HttpOrigin) -> HttpOrigin {
        origins.withLock { origins in
            if let first = origins[session] { return first }
            if origins.count >= Self.maxCount { origins.removeAll() }
            origins[session] = origin
            return origin
        }
    }
}

/// The check that one session object makes, which asks the process once for each session and origin.
struct SessionOriginCheck: Sendable {
    private struct Pass: Hashable {
        let session: UUID
        let origin: HttpOrigin
    }

    let origins: CredentialOrigins
    private let latest = Locked<Pass?>(nil)

    init(_ origins: CredentialOrigins) {
        self.origins = origins
    }

    /// Looks whether the credential of a session, nil where none is known, may go to `origin`.
    ///
    /// - Throws: `RefreshError.foreignOrigin`.
    func admit(_ session: UUID?, to origin: HttpOrigin) throws(RefreshError) {
        guard let session else { return }
        let pass = Pass(session: session, origin: origin)
        if latest.withLock({ $0 == pass }) { return }
        try origins.admit(origin, ofSessionAt: SessionOrigins.ofProcess.first(for: session, orNow: origin))
        latest.withLock { $0 = pass }
    }
}
