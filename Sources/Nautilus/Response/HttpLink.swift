/// A link of a response's header (RFC 8288): its target, and how that is related to the response.
///
/// ```text
/// Link: </notes?page=3>; rel="next", </notes?page=9>; rel="last"
/// ```
public struct HttpLink: Hashable, Sendable {
    /// Where it leads, as the server wrote it: absolute, or relative to the response's URL.
    public let target: String
    /// The relations of the target, such as `next`, in small letters; empty when the link names none.
    public let relations: [String]
    /// The resource that the target is related to when it is not the response; nil, as nearly always, when it is.
    public let anchor: String?
    /// All parameters by their names in small letters, `rel` included; of a repeated one the first (RFC 8288 §3.3).
    public let parameters: [String: String]

    init(target: String, parameters: [String: String]) {
        self.target = target
        self.relations = parameters["rel"].map(Self.words) ?? []
        self.anchor = parameters["anchor"]
        self.parameters = parameters
    }

    private static func words(_ text: String) -> [String] {
        text.utf8.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self).lowercased() }
    }
}

extension HttpHeader {
    /// The links of all `Link` fields, in order; empty when there is none, or none that can be read.
    ///
    /// Anything that is not a link is left out, up to the next comma that stands outside of quotes.
    public var links: [HttpLink] {
        values(of: .link).flatMap { field in
            var parser = LinkParser(field)
            return parser.links()
        }
    }

    /// Where the first link of a relation leads, such as `next`; nil when there is none.
    ///
    /// A link with an anchor is about something else than the response, and is passed over.
    public func link(_ relation: String) -> String? {
        let relation = relation.lowercased()
        return links.first { $0.anchor == nil && $0.relations.contains(relation) }?.target
    }
}

extension HttpHeader.Name {
    /// The resources that the response is related to.
    public static let link = HttpHeader.Name("Link")
}

extension HttpLink: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The relations and the target up to its query, which may hold a token.
    public var description: String {
        let relation = relations.joined(separator: " ")
        // A password in a URL comes with an `@`.
        guard !target.utf8.contains(UInt8(ascii: "@")) else { return "\(relation): ‹redacted›" }
        let end = target.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return "\(relation): \(end.map { target[..<$0] + "?…" } ?? target[...])"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["link": description]) }
}
