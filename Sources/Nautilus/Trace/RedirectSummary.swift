/// Where the redirects of one exchange have led.
public struct RedirectSummary: Hashable, Sendable {
    /// How many were followed, at least 1.
    public var count = 0
    /// Whether one led to another origin, so that credentials were left behind, also when a later one led back.
    public var leftOrigin = false
    /// Whether one made a GET of another method: then the server has acted on the request, most probably.
    public var becameGet = false

    /// Creates the summary of no redirect.
    public init() {}
}
