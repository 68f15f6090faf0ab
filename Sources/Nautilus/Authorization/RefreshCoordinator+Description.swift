extension RefreshCoordinator: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The session in a few words, for a log: the generation, never the credential.
    public var description: String {
        let state = core.withLock { $0.machine.state }
        return switch state {
        case .signedOut(nil): "signed out"
        case .signedOut: "session expired"
        case .idle(let session): Self.text(session)
        case .refreshing(let session, _): "\(Self.text(session)), refreshing"
        case .coolingDown(let session, _): "\(Self.text(session)), cooling down"
        }
    }

    private static func text(_ session: RefreshSession) -> String { "generation \(session.grant.generation)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows: the stored properties lead to the credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["session": description])
    }
}
