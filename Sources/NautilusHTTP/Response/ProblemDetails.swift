import Foundation

/// A server's account of why it refused a request, in the standard form `application/problem+json` (RFC 9457).
///
/// ```swift
/// func mapError(_ error: HttpError) -> ShopError {
///     error.problem.map { .refused($0.title ?? $0.type) } ?? .failed(error)
/// }
/// ```
/// All of it is the server's text: show ``title`` and ``detail`` to people, but base decisions only on ``type``
/// (§3.1.4). To read the server's additional members, use ``HttpError/responseBody(as:decoder:)``.
public struct ProblemDetails: Codable, Hashable, Sendable {
    /// The kind of problem, as a URI reference; `about:blank` if the status says it all (§3.1.1, §4.2.1).
    public var type: String
    /// A short summary of the kind for people, the same for each occurrence; nil if there is none (§3.1.3).
    public var title: String?
    /// The status that the refusing server sent; nil if there is none (§3.1.2).
    public var status: Int?
    /// A description of this occurrence for people; nil if there is none (§3.1.4).
    public var detail: String?
    /// A URI reference that identifies this occurrence, to quote to the server's support; nil if there is none
    /// (§3.1.5).
    public var instance: String?

    /// Creates an account, for a server in a test.
    ///
    /// - Parameters:
    ///   - type: The kind of problem. Default: `about:blank`, for which the status says it all.
    ///   - title: A short summary of the kind for people. Default: nil.
    ///   - status: The status. Default: nil.
    ///   - detail: A description of this occurrence, for people. Default: nil.
    ///   - instance: A URI reference that identifies this occurrence. Default: nil.
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

    /// Reads an account. A member that does not have the standard's type counts as absent (§3.1).
    ///
    /// - Throws: `DecodingError` for anything that is not a JSON object.
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
