/// A service that has moved to another origin, or to another path of the same one, while a call was under way, as one does
/// whose base URL follows a switch.
///
/// The call belongs to the place that it began with, and ends; nothing of it is sent to the other one. Calls that continue one
/// another, such as those for a list's pages or an event stream's connections, belong together.
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
        "The service has moved from \(from) to \(place) while the call was under way; start it again for the present environment."
    }

    /// Where the service is now, without its path, which nobody needs to read.
    var place: String { from == to ? "another path of \(to)" : "\(to)" }
}
