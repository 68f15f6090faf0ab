extension RefreshCoordinator {
    /// A credential with its version: what an attempt is stamped with.
    public struct Grant: Sendable {
        /// The credential.
        public let credential: Credential
        /// Its version: larger than that of every earlier credential of this coordinator, those of other users included.
        public let generation: Int
    }
}

extension RefreshCoordinator.Grant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The generation, never the credential.
    public var description: String { "generation \(generation)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows the generation, never the credential.
    public var customMirror: Mirror {
        Mirror(self, children: ["generation": generation])
    }
}
