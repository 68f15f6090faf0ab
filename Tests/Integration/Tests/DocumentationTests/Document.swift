import Testing

/// A Markdown document: its lines, its code blocks, its links.
struct Document: Sendable, CustomTestStringConvertible {
    /// A fenced block of code.
    struct Block: Sendable {
        /// The text after the opening fence; empty for nothing.
        let language: String
        /// The number of the opening fence's line, from 1.
        let fence: Int
        /// The lines between the fences.
        let code: [String]
        /// Whether there is a closing fence.
        let isClosed: Bool
    }

    /// The path from the repository's root.
    let path: String
    let lines: [String]
    let blocks: [Block]

    init(path: String, text: String) {
        self.path = path
        self.lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        self.blocks = Self.blocks(of: lines)
    }

    init(path: String) throws {
        self.init(path: path, text: try Repository.text(of: path))
    }

    var testDescription: String { path }

    /// The paths of what a new user reads to write code: each has Swift in it.
    static let withCode = ["README.md"] + Repository.files(in: "Guides", withExtension: "md")
    /// The paths of all documents that have links.
    static let all = withCode + ["CHANGELOG.md", "CONTRIBUTING.md", "Tests/CASES.md", "Tests/README.md"]

    var swiftBlocks: [Block] { blocks.filter { $0.language == "swift" } }

    /// The document as a Swift script: everything but its Swift code is blank, so that every line keeps its number, and
    /// so is the import of a module that the document itself declares.
    var script: String {
        var script = Array(repeating: "", count: lines.count)
        for block in swiftBlocks {
            for (offset, line) in block.code.enumerated() where !line.hasPrefix("@testable import ") {
                script[block.fence + offset] = line
            }
        }
        script[0] = "#sourceLocation(file: \"\(path)\", line: 2)"
        return script.joined(separator: "\n")
    }

    private static func blocks(of lines: [String]) -> [Block] {
        var blocks: [Block] = []
        var number = 0
        while number < lines.count {
            number += 1
            guard lines[number - 1].hasPrefix("```") else { continue }
            let code = lines[number...].prefix { !$0.hasPrefix("```") }
            blocks.append(
                Block(
                    language: String(lines[number - 1].dropFirst(3)),
                    fence: number,
                    code: Array(code),
                    isClosed: number + code.count < lines.count
                )
            )
            number += code.count + 1
        }
        return blocks
    }
}
