import Nautilus

/// How often and how long a feed, that is, an event stream or a web socket, tries to reconnect before it ends.
///
/// ```swift
/// for try await event in Feed().events(with: service, reconnectLimit: .time(.seconds(60))) { … }
/// ```
/// Both limits count from the loss of the last connection that has served: one over which something was received, or
/// which has lasted for ten seconds. The feed ends with the last failure, whose trace names the limit.
public struct ReconnectLimit: Hashable, Sendable {
    /// The most connections that are tried in a row; nil for no limit. Zero or less: the feed ends with its connection.
    public var attempts: Int?
    /// The longest time until the last try begins; nil for no limit.
    public var time: Duration?

    /// Creates a limit; whichever is reached first ends the feed.
    ///
    /// - Parameters:
    ///   - attempts: The most connections that are tried in a row. Default: nil, no limit.
    ///   - time: The longest time until the last try begins. Default: nil, no limit.
    public init(attempts: Int? = nil, time: Duration? = nil) {
        (self.attempts, self.time) = (attempts, time)
    }

    /// No limit: the feed ends when its reader, its session or the server ends it.
    public static let none = ReconnectLimit()

    /// Tries at most this many connections in a row.
    public static func attempts(_ count: Int) -> ReconnectLimit { ReconnectLimit(attempts: count) }

    /// Tries no connection later than this after the loss.
    public static func time(_ time: Duration) -> ReconnectLimit { ReconnectLimit(time: time) }
}

extension ReconnectLimit {
    /// Why another connection is not tried; nil when it is.
    ///
    /// - Parameters:
    ///   - count: How many have been tried since the loss.
    ///   - moment: When the next one would be tried, counted from the loss.
    func reasonToStop(after count: Int, at moment: Duration) -> RetryReason? {
        if let attempts, count >= attempts { return .custom("reconnect limit: \(attempts) connections in a row") }
        if let time, moment > time { return .custom("reconnect limit: \(time.brief) after the loss") }
        return nil
    }
}
