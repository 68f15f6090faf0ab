extension RefreshCoordinator: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The session in a few words, for a log: the generation, never the credential.
    public var description: String {
        let state = core.withLock { $0.machine.state }
        return switch state {
        case .signedOut(nil): "signed out"
        case .signedOut: "session expired"
        case .idle(let session): "\(session.grant)"
        case .refreshing(let session, _): "\(session.grant), refreshing"
        case .coolingDown(let session, _): "\(session.grant), cooling down"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows: the stored properties lead to the credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["session": description])
    }
}
