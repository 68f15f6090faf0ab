/// An HTTP request method (RFC 9110 §9). Case-sensitive, as the RFC has it.
public struct HttpMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it goes on the wire.
    public let rawValue: String

    /// Creates a method from any token; a method that is not a token is refused when the request is built.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from a literal: `"PROPFIND"`.
    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// Reads a resource.
    public static let get = HttpMethod(rawValue: "GET")
    /// Reads a resource's header.
    public static let head = HttpMethod(rawValue: "HEAD")
    /// Has the resource process the body: creates, appends, acts.
    public static let post = HttpMethod(rawValue: "POST")
    /// Replaces the resource.
    public static let put = HttpMethod(rawValue: "PUT")
    /// Changes a part of the resource (RFC 5789).
    public static let patch = HttpMethod(rawValue: "PATCH")
    /// Removes the resource.
    public static let delete = HttpMethod(rawValue: "DELETE")
    /// Asks the resource a question that is too long or too structured for a URL, in the body (RFC 10008).
    ///
    /// Safe and idempotent like GET, so it is retried, and hedged where requests are. A redirect by 301, 302, 307 or 308
    /// sends the question on, 303 leads to a GET (§2.5). Answers are never cached: they depend on the body (§2.7).
    public static let query = HttpMethod(rawValue: "QUERY")
    /// Asks what the resource can do.
    public static let options = HttpMethod(rawValue: "OPTIONS")

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .query, .put, .delete, .options, "TRACE": true
        default: false
        }
    }

    /// Whether the method only reads, so that sending the request again changes no later answer (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .query, .options, "TRACE": true
        default: false
        }
    }

    /// Whether a request without a body has to say so by a length of 0 (RFC 9110 §8.6).
    package var expectsBody: Bool {
        self == .post || self == .put || self == .patch || self == .query
    }

    /// The method as it goes on the wire.
    public var description: String { rawValue }
}
