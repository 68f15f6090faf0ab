/// How the page after another one is asked for.
public enum NextPage<R: Request>: Sendable {
    /// With a request of its own: another number, another cursor.
    case request(R)
    /// With the same request at a URL that the server has named, absolute or relative to the page's; the URL takes the
    /// place of base URL, route and query.
    ///
    /// On another origin it is asked for without credentials, as a redirect would be. It must not lead from `https` to
    /// `http`.
    case link(String)
}

extension NextPage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of page, without the link, in which a token may be, and without the request.
    public var description: String {
        switch self {
        case .request: "the next request"
        case .link: "the next link"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["next": description]) }
}
