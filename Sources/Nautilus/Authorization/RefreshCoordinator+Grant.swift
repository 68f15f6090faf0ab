extension RefreshCoordinator {
    /// A credential with its version: what an attempt is stamped with.
    public struct Grant: Sendable {
        private let sealed: SealedGrant

        /// The credential.
        public var credential: Credential { sealed.credential.unsealed(as: Credential.self) }
        /// Its version: larger than that of every earlier credential of this coordinator, those of other users included.
        public var generation: Int { sealed.generation }

        init(_ sealed: SealedGrant) {
            self.sealed = sealed
        }
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
