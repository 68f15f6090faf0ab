import Foundation
import Nautilus

/// The first origin that each session's credential was sent to, shared by all session objects of the process. Two of
/// them share one record if two environments use the same key, and must not carry its credential from one to the other.
///
/// Each launch learns it anew, as `CredentialOrigins.first` does, so that an API may move to another host.
final class SessionOrigins: Sendable {
    static let ofProcess = SessionOrigins()

    /// More users than a process has at once; beyond that, all origins are learned anew.
    private static let maxCount = 10_000

    private let origins = Locked<[UUID: HttpOrigin]>([:])

    /// The first origin that the credential of a session was sent to; `origin` when none is known yet.
    func first(for session: UUID, orNow origin: HttpOrigin) -> HttpOrigin {
        origins.withLock { origins in
            if let first = origins[session] { return first }
            if origins.count >= Self.maxCount { origins.removeAll() }
            origins[session] = origin
            return origin
        }
    }
}

/// The origin check of one session object. It remembers its latest pass, so as not to ask the process for every
/// attempt.
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

    /// Checks whether the credential of a session may go to `origin`; does nothing when `session` is nil, not known.
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
