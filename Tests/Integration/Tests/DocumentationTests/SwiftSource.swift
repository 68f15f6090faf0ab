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
        let lines = Self.code(in: text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        self.declaredTypes = lines.compactMap { line in
            // Only what begins a line is declared at the top of the file; a regex for each line takes long.
            guard let first = line.first, Self.isOfWord(first) else { return nil }
            return String(decoding: line, as: UTF8.self).firstMatch(of: Self.declaration).map { String($0.output.1) }
        }
        var identifiers: [String: [Int]] = [:]
        for (index, line) in lines.enumerated() {
            for word in line.split(whereSeparator: { !Self.isOfWord($0) }) {
                identifiers[String(decoding: word, as: UTF8.self), default: []].append(index + 1)
            }
        }
        self.identifiers = identifiers
    }

    private static var declaration: Regex<(Substring, Substring)> {
        /^(?:public |package |internal |final |indirect )*(?:struct|class|enum|actor|protocol|typealias) (\w+)/
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    /// The text with a blank in place of each comment and each literal; lines stay lines.
    private static func code(in text: String) -> [UInt8] {
        var code: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            guard let mark = marks.first(where: { rest.starts(with: $0.begin) }) else {
                code.append(byte)
                rest = rest.dropFirst()
                continue
            }
            code.append(UInt8(ascii: " "))
            rest = rest.dropFirst(mark.begin.count)
            while let byte = rest.first, !rest.starts(with: mark.end) {
                if byte == UInt8(ascii: "\n") {
                    if mark.isOfLine { break }
                    code.append(byte)
                }
                rest = rest.dropFirst(mark.hasEscapes && byte == UInt8(ascii: "\\") ? 2 : 1)
            }
            if rest.first != UInt8(ascii: "\n") { rest = rest.dropFirst(mark.end.count) }
        }
        return code
    }

    /// How what is no code begins and ends, the longest first.
    private static let marks: [Mark] = [
        Mark(begin: "//", end: "\n", isOfLine: true), Mark(begin: "/*", end: "*/"),
        Mark(begin: "\"\"\"", end: "\"\"\"", hasEscapes: true),
        Mark(begin: "\"", end: "\"", isOfLine: true, hasEscapes: true),
    ]

    private struct Mark {
        let begin: [UInt8]
        let end: [UInt8]
        var isOfLine = false
        var hasEscapes = false

        init(begin: String, end: String, isOfLine: Bool = false, hasEscapes: Bool = false) {
            self.begin = Array(begin.utf8)
            self.end = Array(end.utf8)
            self.isOfLine = isOfLine
            self.hasEscapes = hasEscapes
        }
    }
}
