import Foundation

/// A server's account of why it refused a request, in the standard form `application/problem+json` (RFC 9457).
///
/// ```swift
/// func mapError(_ error: HttpError) -> ShopError {
///     error.problem.map { .refused($0.title ?? $0.type) } ?? .failed(error)
/// }
/// ```
/// The server has written all of it: show ``title`` and ``detail`` to people, and decide by ``type`` alone (§3.1.4).
/// Members of the server's own are read by ``HttpError/responseBody(as:decoder:)``.
public struct ProblemDetails: Codable, Hashable, Sendable {
    /// The kind of problem, a URI reference; `about:blank` when the status says it all (§3.1.1, §4.2.1).
    public var type: String
    /// The kind in a few words for people, the same each time; nil when it is not said (§3.1.3).
    public var title: String?
    /// The status, as the server that refused has sent it; nil when it is not said (§3.1.2).
    public var status: Int?
    /// A description of this request's problem, for people; nil when it is not said (§3.1.4).
    public var detail: String?
    /// This occurrence of the problem, a URI reference to name to the server's people; nil when it is not said
    /// (§3.1.5).
    public var instance: String?

    /// Creates an account, as a test's server gives it.
    ///
    /// - Parameters:
    ///   - type: The kind of problem. Default: `about:blank`, the status says it all.
    ///   - title: The kind for people. Default: nil.
    ///   - status: The status. Default: nil.
    ///   - detail: A description of this occurrence, for people. Default: nil.
    ///   - instance: This occurrence. Default: nil.
    public init(
        type: String = "about:blank",
        title: String? = nil,
        status: Int? = nil,
        detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }

    /// Reads an account. A member of another type than the standard's counts as absent (§3.1).
    ///
    /// - Throws: `DecodingError` for anything that is no JSON object.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        self.init(
            type: text(.type) ?? "about:blank",
            title: text(.title),
            status: try? members.decode(Int.self, forKey: .status),
            detail: text(.detail),
            instance: text(.instance)
        )
    }
}
