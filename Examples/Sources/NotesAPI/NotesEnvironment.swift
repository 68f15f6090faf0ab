/// Where a notes API runs. Sessions and tokens belong to one environment, and go to no other.
public struct NotesEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// The environment's name, for people.
    public let name: String
    /// Scheme, host and port of the API.
    public let origin: String

    /// Creates an environment, as for a server on this machine.
    public init(name: String, origin: String) {
        self.name = name
        self.origin = origin
    }

    /// For testers: data may be lost.
    public static let staging = NotesEnvironment(name: "staging", origin: "https://staging.notes.example")
    /// For everybody.
    public static let production = NotesEnvironment(name: "production", origin: "https://notes.example")

    /// The name.
    public var description: String { name }
}
