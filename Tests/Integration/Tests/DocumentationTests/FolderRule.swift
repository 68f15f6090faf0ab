/// Which folders of a product may name which: a table of arrows.
struct FolderRule {
    /// A type named where it must not be known.
    struct Violation: Hashable, CustomStringConvertible {
        let path: String
        let line: Int
        let type: String
        let folder: String

        var description: String { "\(path):\(line): \(type) is of \(folder), where no arrow leads" }
    }

    /// The arrows of `NautilusHTTP`: each folder, and the others whose types it may name.
    static let http: [String: Set<String>] = [
        "Support": [],
        "Request": ["Support"],
        "Body": ["Request", "Support"],
        "Trace": ["Request", "Support"],
        "Response": ["Request", "Support", "Trace"],
        "Transport": ["Request", "Response", "Support", "Trace"],
    ]

    /// The arrows of the core.
    static let core: [String: Set<String>] = [
        "Support": [],
        "Declaration": [],
        "Session": [],
        "Observer": [],
        "Attempt": ["Observer", "Session"],
        "Retry": ["Attempt", "Declaration", "Session"],
        "Interceptor": ["Attempt", "Declaration", "Retry", "Session"],
        "Authorization": ["Attempt", "Declaration", "Observer", "Retry", "Session", "Support"],
        "Service": ["Attempt", "Declaration", "Interceptor", "Observer", "Retry", "Session"],
        "Call": ["Attempt", "Declaration", "Interceptor", "Observer", "Retry", "Service", "Session"],
        "Styles": ["Declaration", "Service"],
    ]

    /// The arrows of `NautilusStreams`.
    static let streams: [String: Set<String>] = [
        "Support": [], "Downloads": [], "Lines": [], "Events": ["Lines", "Support"], "WebSockets": ["Support"],
    ]

    /// The arrows of `NautilusTraffic`.
    static let traffic: [String: Set<String>] = [
        "Support": [], "Hedging": [], "Chaos": [], "Deadline": [],
        "Budgets": ["Support"], "Limit": ["Support"], "Pacing": ["Support"], "Breaker": ["Support"],
    ]

    /// The arrows of `NautilusSessions`.
    static let sessions: [String: Set<String>] = ["Store": [], "Session": ["Store"]]

    /// The arrows of `NautilusOAuth`.
    static let oauth: [String: Set<String>] = [
        "Support": [], "Credential": [], "Endpoint": ["Credential", "Support"], "Session": ["Credential", "Endpoint"],
    ]

    /// The sources, by folder.
    let sources: [String: [SwiftSource]]
    /// The arrows that they have to keep to.
    var arrows: [String: Set<String>]

    /// The folders that files of `folder` may name: their own, and those that an arrow leads to.
    func folders(knownTo folder: String) -> Set<String> {
        arrows[folder, default: []].union([folder])
    }

    /// The arrows that no source needs, each as `from → to`.
    var idleArrows: [String] {
        arrows.flatMap { folder, targets in
            targets.filter { target in
                let types = Set((sources[target] ?? []).flatMap(\.declaredTypes))
                return !(sources[folder] ?? []).contains { source in types.contains { source.identifiers[$0] != nil } }
            }
            .map { "\(folder) → \($0)" }
        }
    }

    /// The folders that lead back to themselves.
    var circles: [String] {
        arrows.keys.filter { start in
            var reached: Set<String> = []
            var next = Array(arrows[start] ?? [])
            while let folder = next.popLast() {
                if reached.insert(folder).inserted { next += arrows[folder] ?? [] }
            }
            return reached.contains(start)
        }
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
