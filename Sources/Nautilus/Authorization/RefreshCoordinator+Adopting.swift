/// What a coordinator needs whose credential is shared with other processes.
extension RefreshCoordinator {
    /// What a refresh has brought.
    package struct Renewal: Sendable {
        package let credential: Credential
        /// Called once the credential is published, or has been found to be too late.
        package let afterwards: (@Sendable () -> Void)?

        package init(credential: Credential, afterwards: (@Sendable () -> Void)? = nil) {
            self.credential = credential
            self.afterwards = afterwards
        }
    }

    /// What another process has done to the session.
    package enum Adoption: Sendable {
        /// It has refreshed, and this is the new credential.
        case replacement(Credential)
        /// Somebody has signed in.
        case session(Credential)
        /// The user has signed out.
        case nothing
    }

    /// Counts what becomes of the session; see ``adopt(_:since:)``.
    package var epoch: Int { core.withLock { $0.machine.epoch } }

    /// Follows another process, unless something has happened here since `epoch`.
    ///
    /// Read the epoch before looking at what is shared: then what is adopted is never older than what is here.
    ///
    /// - Returns: Whether it has been followed.
    package func adopt(_ adoption: Adoption, since epoch: Int) -> Bool {
        let adoption: RefreshMachine.Adoption =
            switch adoption {
            case .replacement(let credential): .replacement(CredentialBox(credential), lifetime: lifetime(credential))
            case .session(let credential): .session(CredentialBox(credential), lifetime: lifetime(credential))
            case .nothing: .nothing
            }
        let now = stopwatch.elapsed
        let effects: [RefreshCore.Effect]? = core.withLock { core in
            core.machine.epoch == epoch ? core.handle(.adopt(adoption, since: epoch), at: now) : nil
        }
        guard let effects else { return false }
        perform(effects)
        return true
    }
}
