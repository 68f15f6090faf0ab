/// The session that a process has, and how it shares it.
public struct SessionSettings: Codable, Hashable, Sendable {
    /// Scheme, host and port of the demo server.
    public var origin: String
    /// The path of the store's folder.
    public var folder: String
    /// The account that the credential belongs to.
    public var account: String
    /// How long the process waits for the store's lock.
    public var lockWait: Duration
    /// How long it waits before it saves again what could not be saved, sends again what was not answered, and refreshes
    /// again after a refresh that failed.
    public var pause: Duration

    /// The client that all tokens are issued to.
    public static let client = "notes-app"

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port of the demo server.
    ///   - folder: The path of the store's folder.
    ///   - account: The account that the credential belongs to. Default: empty, the only one there is.
    ///   - lockWait: How long the process waits for the store's lock. Default: an hour, longer than any test takes.
    ///   - pause: How long it waits before it saves, sends or refreshes again. Default: 5 ms, so that no test waits long.
    public init(
        origin: String,
        folder: String,
        account: String = "",
        lockWait: Duration = .seconds(3600),
        pause: Duration = .milliseconds(5)
    ) {
        self.origin = origin
        self.folder = folder
        self.account = account
        self.lockWait = lockWait
        self.pause = pause
    }
}
