/// Which folders of a product may name which: each row knows only the rows above it.
struct FolderRule {
    /// A type named where it must not be known.
    struct Violation: Hashable, CustomStringConvertible {
        let path: String
        let line: Int
        let type: String
        let folder: String

        var description: String { "\(path):\(line): \(type) is of \(folder), which is not above" }
    }

    /// The rows, the first on top; folders of one row never name each other.
    static let rows = [
        ["Support"], ["Request"], ["Body"], ["Trace"], ["Response"], ["Declaration"], ["Attempt"],
        ["Transport", "Interceptor", "Retry"], ["Authorization"], ["Service"], ["Call"],
        ["Pages", "Stream", "Styles", "WebSocket"],
    ]

    /// The rows of `NautilusSessions`.
    static let sessionsRows = [["Store"], ["Session"]]

    /// The rows of `NautilusOAuth`.
    static let oauthRows = [["Support"], ["Credential"], ["Endpoint"], ["Session"]]

    /// The sources, by folder.
    let sources: [String: [SwiftSource]]
    /// The rows they stand in.
    var rows = Self.rows

    /// The folders that files of `folder` may name: their own, and those of the rows above.
    func folders(knownTo folder: String) -> Set<String> {
        Set(rows.prefix { !$0.contains(folder) }.joined()).union([folder])
    }

    /// Every type that is named in a folder that must not know it.
    var violations: [Violation] {
        sources.flatMap { folder, sources in
            let known = folders(knownTo: folder)
            let unknown = self.sources.filter { !known.contains($0.key) }
            return unknown.flatMap { other, files in
                files.flatMap(\.declaredTypes).flatMap { type in
                    sources.flatMap { source in
                        (source.identifiers[type] ?? []).map {
                            Violation(path: source.path, line: $0, type: type, folder: other)
                        }
                    }
                }
            }
        }
    }
}
