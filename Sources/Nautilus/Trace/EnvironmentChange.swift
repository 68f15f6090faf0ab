/// A service that has moved to another origin while a call was under way, as one does whose base URL follows a switch.
///
/// The call belongs to the origin that it began with, and ends; nothing of it is sent to the other one.
public struct EnvironmentChange: Error, Hashable, Sendable {
    /// Where the call began.
    public let from: HttpOrigin
    /// Where the service, or the request, is now.
    public let to: HttpOrigin

    /// Creates a change.
    public init(from: HttpOrigin, to: HttpOrigin) {
        (self.from, self.to) = (from, to)
    }
}

extension EnvironmentChange: PrintableError {
    /// Both origins, and what to do.
    public var description: String {
        "The service has moved from \(from) to \(to) while the call was under way; start it again for the present environment."
    }
}
