import Nautilus

extension Session: CredentialSource {
    /// A credential with its version.
    public typealias Grant = RefreshCoordinator<Credential>.Grant

    /// The session that a call which begins now belongs to, as far as this process has seen. One that is merely read
    /// from the store later, having been there all along, is the same one.
    public var session: RefreshCoordinator<Credential>.Session { coordinator.session }

    /// The credential as of now, with its version, for code that sends its own requests; nil when nobody is signed in.
    /// It does not look at the store and renews nothing: prefer ``grant(continuing:)``.
    public var current: Grant? { coordinator.current }

    /// Returns when a session is over, because a user has signed in or out, and when the task is cancelled.
    public func waitForEnd(of session: RefreshCoordinator<Credential>.Session) async {
        await coordinator.waitForEnd(of: session)
    }

    /// Looks at the store: a user who was signed in by an earlier run, or by another process, is signed in here, too.
    ///
    /// Calls do this by themselves. An app does it at its start, to know which screen to show.
    ///
    /// - Returns: Whether somebody is signed in.
    /// - Throws: ``SessionError`` of kind ``SessionError/Kind/store(_:)`` when nothing is known yet and the store
    ///   cannot be read.
    @discardableResult
    public func restore() async throws(SessionError) -> Bool {
        try await shared.catchUp()
        return isSignedIn
    }

    /// The credential to stamp on an attempt; see `RefreshCoordinator.grant(continuing:)`. What other processes have
    /// done counts.
    ///
    /// - Parameter previous: The grant of the call's attempt before. Default: nil, for its first.
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func grant(continuing previous: Grant? = nil) async throws -> Grant {
        try await shared.catchUp()
        return try await coordinator.grant(continuing: previous)
    }

    /// The credential to stamp on an attempt that goes to `origin`; see `RefreshCoordinator.grant(continuing:for:)`.
    ///
    /// - Throws: The errors of ``grant(continuing:)``; `RefreshError` when the credential is not for `origin`.
    public func grant(continuing previous: Grant?, for origin: HttpOrigin) async throws -> Grant {
        try await shared.catchUp()
        return try await coordinator.grant(continuing: previous, for: origin)
    }

    /// The credential with which to send a call again after the server has rejected its `grant`; see
    /// `RefreshCoordinator.refresh(rejecting:)`. One that another process has refreshed meanwhile comes without a
    /// refresh.
    ///
    /// - Throws: `RefreshError`; ``SessionError`` when the store cannot be read at all; `CancellationError`.
    public func refresh(rejecting grant: Grant) async throws -> Grant {
        try await shared.catchUp()
        return try await coordinator.refresh(rejecting: grant)
    }
}
