import Nautilus

extension HttpHeader {
    /// A link in a response's header (RFC 8288): its target, and how the target is related to the response.
    ///
    /// ```text
    /// Link: </notes?page=3>; rel="next", </notes?page=9>; rel="last"
    /// ```
    public struct Link: Hashable, Sendable {
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
}

extension HttpHeader {
    /// The links of all `Link` fields, in order; empty if there are none that can be read.
    ///
    /// Anything that is not a link is skipped up to the next comma outside of quotes.
    public var links: [HttpHeader.Link] { linkEntries.compactMap(\.link) }

    private var linkEntries: [LinkParser.Entry] {
        values(of: .link).flatMap { field in
            var parser = LinkParser(field)
            return parser.entries()
        }
    }

    /// The target of the first link with a relation such as `next`; nil if there is none.
    ///
    /// A link with an anchor is skipped, since it is not about the response.
    public func link(_ relation: String) -> String? {
        let relation = relation.lowercased()
        return links.first { $0.anchor == nil && $0.relations.contains(relation) }?.target
    }

    /// Whether there is a link that cannot be read, and that was most probably meant to have this relation: its target
    /// is not in brackets, a quote is missing, or the like.
    func hasUnreadableLink(_ relation: String) -> Bool {
        let relation = relation.lowercased()
        return linkEntries.contains { $0.seemsToBe(relation) }
    }
}

extension HttpHeader.Name {
    /// The resources that the response is related to.
    public static let link = HttpHeader.Name("Link")
}

extension HttpHeader.Link: Redacted {
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

    /// The part between two commas of a field.
    struct Entry {
        /// The link; nil without a target in brackets.
        let link: HttpHeader.Link?
        /// All of an entry without a link, or what follows a link's target.
        let rest: String
        /// Whether all of the entry was read.
        let isWhole: Bool

        /// Whether the link was most probably meant to have a relation, which it does not have as it is written.
        func seemsToBe(_ relation: String) -> Bool {
            guard let link else { return rest.mentions(relation) }
            // It is not about the response.
            guard link.anchor == nil, !link.relations.contains(relation) else { return false }
            // Of several relations, the first counts (RFC 8288 §3.3).
            guard !link.relations.isEmpty else { return !isWhole && rest.mentions(relation) }
            return link.relations.contains { $0.names(relation) }
        }
    }

    /// All entries up to the end. What is malformed extends to the next comma outside of quotes.
    mutating func entries() -> [Entry] {
        var entries: [Entry] = []
        while true {
            field.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
            guard !field.isAtEnd else { return entries }
            let target = readTarget()
            let start = field.position
            let link = target.map { HttpHeader.Link(target: $0, parameters: readParameters()) }
            let isWhole = link != nil && (field.isAtEnd || field.current == UInt8(ascii: ","))
            skipToComma()
            entries.append(Entry(link: link, rest: field.text(from: start), isWhole: isWhole))
        }
    }

    /// Reads the text between angle brackets; reads nothing and returns nil if there are none here.
    private mutating func readTarget() -> String? {
        let start = field.position
        guard field.skip("<") else { return nil }
        // Another bracket cannot be in a URL, so it begins the next link, and this one's was not closed.
        let target = field.read { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
        if field.skip(">") { return target }
        field.goBack(to: start)
        return nil
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
                    ? field.readQuoted().text
                    : readSingleQuoted() ?? field.read { !$0.isBlank && !";,".utf8.contains($0) }
            }
            // An empty name comes from a superfluous semicolon; a repeated parameter does not count (§3.3).
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    /// Reads a text in single quotes, which some servers write for double ones; reads nothing and returns nil if there
    /// is none here. To RFC 8288 they are signs like any others, so none may be in the text with what ends a value.
    private mutating func readSingleQuoted() -> String? {
        let start = field.position
        guard field.current == UInt8(ascii: "'") else { return nil }
        let text = field.read { !";,\"".utf8.contains($0) }.trimmingBlanks
        if text.utf8.count > 1, text.hasSuffix("'") { return String(text.dropFirst().dropLast()) }
        field.goBack(to: start)
        return nil
    }

    private mutating func skipToComma() {
        while let byte = field.current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = field.readQuoted() } else { field.skip() }
        }
    }
}

extension String {
    /// Whether a text that is no link, in lower or upper case, has a parameter `rel` with a relation among its words.
    fileprivate func mentions(_ relation: String) -> Bool {
        var field = FieldReader(lowercased())
        while !field.isAtEnd {
            let name = field.readToken()
            guard name == "rel" else {
                // The name of a parameter follows a semicolon or a blank.
                field.skip { !$0.isBlank && $0 != UInt8(ascii: ";") }
                field.skip { $0.isBlank || $0 == UInt8(ascii: ";") }
                continue
            }
            let words = field.read { $0 != UInt8(ascii: ";") }.split(separator: " ")
            return words.contains { String($0).names(relation) }
        }
        return false
    }

    /// Whether a relation is among the words between commas, semicolons and other signs that do not separate relations.
    fileprivate func names(_ relation: String) -> Bool {
        utf8.split { ",;|".utf8.contains($0) }.contains { String(decoding: $0, as: UTF8.self).withoutSigns == relation }
    }

    /// The text without quotes, commas and other signs around it.
    fileprivate var withoutSigns: Substring {
        let isSign: (UInt8) -> Bool = { !($0.isDigit || (0x61...0x7A).contains($0)) }
        let bytes = self[...].utf8
        guard let last = bytes.lastIndex(where: { !isSign($0) }) else { return "" }
        return Substring(bytes[...last].drop(while: isSign))
    }
}
