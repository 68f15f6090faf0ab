import Foundation

extension Document {
    /// A link to another place of the repository.
    struct Link: Sendable {
        /// The number of its line, from 1.
        let line: Int
        /// The file or folder it names, relative to the document; empty for the document itself.
        let path: String
        /// The heading it names; nil for none.
        let anchor: String?
    }

    /// Every relative link outside of code.
    var links: [Link] {
        prose.enumerated().flatMap { index, line in
            line.matches(of: /\]\(([^)\s]+)\)/)
                .map { String($0.output.1) }
                .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
                .map { target in
                    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                    return Link(
                        line: index + 1,
                        path: String(parts[0]),
                        anchor: parts.count > 1 ? String(parts[1]) : nil
                    )
                }
        }
    }

    /// The names of the headings in links: in small letters, without punctuation, hyphens for blanks.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }
                    .lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                    .replacingOccurrences(of: " ", with: "-")
            }
        )
    }

    /// The lines, those of blocks of code blank.
    private var prose: [String] {
        var prose = lines
        for block in blocks {
            for line in (block.fence - 1)..<min(block.fence + block.code.count + 1, prose.count) { prose[line] = "" }
        }
        return prose
    }
}
