/// Why a request cannot be built. Nothing was sent.
public enum InvalidRequest: Error, Hashable, Sendable, CustomStringConvertible {
    /// The base URL cannot be used.
    case baseUrl(reason: String)
    /// A component of the route, counted from 0, is empty.
    case emptyRouteComponent(index: Int)
    /// The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
    case method
    /// A field name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
    case headerName
    /// The value of the field `name` has a character that a header must not contain: CR, LF or NUL.
    case headerValue(name: HttpHeader.Name)
    /// The body's value cannot be encoded; the place is a path of coding keys.
    case bodyNotEncodable(at: String)
    /// A file that is to be sent cannot be read.
    case file(HttpFileError)
    /// The parts of a form contain every boundary that was drawn to part them.
    case multipartBoundary
    /// The method does not take a body.
    case bodyNotAllowed(HttpMethod)
    /// The timeout or the deadline is not positive.
    case notPositive(parameter: String)

    /// The fault, and its remedy.
    public var description: String {
        switch self {
        case .baseUrl(let reason):
            "The base URL cannot be used: \(reason)."
        case .emptyRouteComponent(let index):
            "Component \(index) of the route is empty, which would address another resource; "
                + "check the identifier, or ask for a trailing slash with HttpRoute(_:trailingSlash:)."
        case .method:
            "The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        case .headerName:
            "A header name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        case .headerValue(let name):
            "The value of header \(name) contains a line break or NUL; remove it before it splits the header."
        case .bodyNotEncodable(let place):
            "The body cannot be encoded: the value at \(place) has no representation."
        case .file(let error):
            "The body cannot be read: \(error)"
        case .multipartBoundary:
            "No boundary was found that the parts of the form do not contain; use a random source that is random."
        case .bodyNotAllowed(let method):
            "\(method) does not carry a body; use POST, or put the values into the query."
        case .notPositive(let parameter):
            "The \(parameter) must be more than zero; use nil for none."
        }
    }
}
