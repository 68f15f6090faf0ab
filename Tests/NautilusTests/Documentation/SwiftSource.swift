/// A Swift file as the folder rule sees it: which types it declares, and which words its code contains.
struct SwiftSource {
    /// The path from the repository's root.
    let path: String
    /// The types that other files can name: declared at the top of the file, not private.
    let declaredTypes: [String]
    /// Every identifier in the code, with the numbers of its lines; comments and texts are no code.
    let identifiers: [String: [Int]]

    init(path: String, text: String) {
        self.path = path
        let lines = Self.withoutCommentsAndTexts(text).split(separator: "\n", omittingEmptySubsequences: false)
        self.declaredTypes = lines.compactMap { line in
            line.firstMatch(of: Self.declaration).map { String($0.output.1) }
        }
        var identifiers: [String: [Int]] = [:]
        for (index, line) in lines.enumerated() {
            for word in line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
                identifiers[String(word), default: []].append(index + 1)
            }
        }
        self.identifiers = identifiers
    }

    private static var declaration: Regex<(Substring, Substring)> {
        /^(?:public |package |internal |final |indirect )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/
    }

    /// The text with comments and the contents of literals replaced by blanks; lines stay lines.
    private static func withoutCommentsAndTexts(_ text: String) -> String {
        text.replacing(/\/\/.*|\/\*(?s:.*?)\*\/|"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"/) { match in
            String(match.output.map { $0 == "\n" ? "\n" : " " })
        }
    }
}
