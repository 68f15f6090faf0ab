/// How a demo server treats devices that wait for their user (RFC 8628).
public struct DemoDeviceRules: Hashable, Sendable {
    /// How long a device may wait for its user.
    public var lifetime: Duration
    /// The least time between two polls of a device that asks from now on.
    public var interval: Duration
    /// How many polls are answered with `authorization_pending` before the next one is approved; nil to wait for a user.
    public var approvesAfterPolls: Int?

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - lifetime: How long a device may wait. Default: ten minutes, enough to fetch a phone.
    ///   - interval: The least time between two polls, on the wire rounded up to whole seconds. Default: 5 s, what
    ///     RFC 8628 §3.5 names for want of another. Zero never slows a device down.
    ///   - approvesAfterPolls: After how many pending answers a device is approved. Default: nil, by a user alone.
    public init(
        lifetime: Duration = .seconds(600),
        interval: Duration = .seconds(5),
        approvesAfterPolls: Int? = nil
    ) {
        self.lifetime = lifetime
        self.interval = interval
        self.approvesAfterPolls = approvesAfterPolls
    }
}
