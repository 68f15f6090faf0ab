extension HttpRequest {
    /// Why a request cannot be built. Nothing was sent.
    public enum Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        /// The base URL cannot be used.
        case baseUrl(reason: String)
        /// A component of the route, counted from 0, is empty.
        case emptyRouteComponent(index: Int)
        /// A component of the route, counted from 0, is `.` or `..`.
        case dotRouteComponent(index: Int)
        /// The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
        case method
        /// A field name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs.
        case headerName
        /// The value of the field `name` has a character that a header must not contain: CR, LF or NUL.
        case headerValue(name: HttpHeader.Name)
        /// The field is one that only the transport writes: `Host`, `Content-Length`, `Transfer-Encoding` or `Expect`,
        /// and for a web socket also the fields of its opening.
        case reservedHeader(HttpHeader.Name)
        /// The value that the query or the form is made of cannot be written as names and values.
        case queryNotEncodable(reason: String)
        /// The body's value cannot be encoded; `at` is the path of coding keys to the place.
        case bodyNotEncodable(at: String)
        /// A file that is to be sent cannot be read.
        case file(HttpBodyStream.FileError)
        /// The parts of a form contain every boundary that was drawn to separate them.
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
            case .dotRouteComponent(let index):
                "Component \(index) of the route is . or .., which servers take for a step within the path; check the "
                    + "identifier."
            case .method:
                "The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
            case .headerName:
                "A header name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
            case .headerValue(let name):
                "The value of header \(name) contains a line break or NUL; remove it before it splits the header."
            case .reservedHeader(let name):
                "The header \(name) must not be set: \(name.remedy)."
            case .queryNotEncodable(let reason):
                "The query or form cannot be encoded: \(reason); it takes texts, numbers, booleans, dates and arrays of them."
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
}

extension HttpHeader.Name {
    /// Whether the transport alone writes the field, for it follows from the URL and the body (RFC 9110 §7.2, §8.6,
    /// §10.1.1; RFC 9112 §6.1). Another value would break the message, or have it read as two.
    var isWrittenByTransport: Bool {
        self == .host || self == .contentLength || self == .transferEncoding || self == .expect
    }

    fileprivate static let host = HttpHeader.Name("Host")
    fileprivate static let transferEncoding = HttpHeader.Name("Transfer-Encoding")
    fileprivate static let expect = HttpHeader.Name("Expect")

    /// The advice: how to do without the field.
    fileprivate var remedy: String {
        switch self {
        case .host: "it follows from the URL, so put the host into the base URL"
        case .contentLength:
            "the transport counts the body; give a stream its length by `length:`, and ask for a part with Range"
        case .transferEncoding: "the transport chooses it; a stream without a length is sent in chunks"
        case .expect: "the body is sent at once; to have a server decide first, ask with a request of its own"
        default: "it belongs to the opening of a web socket, which the transport writes; remove it"
        }
    }
}
