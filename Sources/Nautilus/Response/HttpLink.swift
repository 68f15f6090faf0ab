/// A link in a response's header (RFC 8288): its target, and how the target is related to the response.
///
/// ```text
/// Link: </notes?page=3>; rel="next", </notes?page=9>; rel="last"
/// ```
public struct HttpLink: Hashable, Sendable {
    /// The target as the server wrote it: absolute, or relative to the response's URL.
    public let target: String
    /// The relations of the target, such as `next`, in lower case; empty when the link names none.
    public let relations: [String]
    /// The resource that the target is related to, if not the response; nil in nearly all links, which are about the
    /// response.
    public let anchor: String?
    /// All parameters, including `rel`, by their names in lower case; of a repeated parameter only the first (RFC 8288
    /// §3.3).
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
    /// The links of all `Link` fields, in order; empty if there are none that can be read.
    ///
    /// Anything that is not a link is skipped up to the next comma outside of quotes.
    public var links: [HttpLink] {
        values(of: .link).flatMap { field in
            var parser = LinkParser(field)
            return parser.links()
        }
    }

    /// The target of the first link with a relation such as `next`; nil if there is none.
    ///
    /// A link with an anchor is skipped, since it is not about the response.
    public func link(_ relation: String) -> String? {
        let relation = relation.lowercased()
        return links.first { $0.anchor == nil && $0.relations.contains(relation) }?.target
    }
}

extension HttpHeader.Name {
    /// The resources that the response is related to.
    public static let link = HttpHeader.Name("Link")
}

extension HttpLink: Redacted {
    /// The relations and the target up to its query, which may hold a token.
    public var description: String {
        let relation = relations.joined(separator: " ")
        // A password in a URL comes with an `@`.
        guard !target.utf8.contains(UInt8(ascii: "@")) else { return "\(relation): ‹redacted›" }
        let end = target.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return "\(relation): \(end.map { target[..<$0] + "?…" } ?? target[...])"
    }
}

/// Reads a `Link` field, by the algorithm of RFC 8288 appendix B.2.
///
/// A server may send anything, so nothing traps, and every byte is read only a bounded number of times.
struct LinkParser {
    private var field: FieldReader

    init(_ text: String) {
        field = FieldReader(text)
    }

    /// All links up to the end. A malformed one is skipped up to the next comma outside of quotes.
    mutating func links() -> [HttpLink] {
        var links: [HttpLink] = []
        while !field.isAtEnd {
            field.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            if let target = readTarget() {
                links.append(HttpLink(target: target, parameters: readParameters()))
            }
            // Whatever remains up to the comma does not belong to a link.
            skipToComma()
        }
        return links
    }

    /// Reads the text between angle brackets; returns nil if there are none here.
    private mutating func readTarget() -> String? {
        guard field.skip("<") else { return nil }
        let target = field.read { $0 != UInt8(ascii: ">") }
        return field.skip(">") ? target : nil
    }

    private mutating func readParameters() -> [String: String] {
        var parameters: [String: String] = [:]
        while true {
            field.skipBlanks()
            guard field.skip(";") else { return parameters }
            field.skipBlanks()
            let name = field.readToken().lowercased()
            field.skipBlanks()
            var value = ""
            if field.skip("=") {
                field.skipBlanks()
                value =
                    field.current == UInt8(ascii: "\"")
                    ? field.readQuoted().text : field.read { !$0.isBlank && !";,".utf8.contains($0) }
            }
            // An empty name comes from a superfluous semicolon; a repeated parameter does not count (§3.3).
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    private mutating func skipToComma() {
        while let byte = field.current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = field.readQuoted() } else { field.skip() }
        }
    }
}
