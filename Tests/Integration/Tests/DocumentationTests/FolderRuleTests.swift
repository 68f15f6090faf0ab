import Testing

extension Documentation {
    @Suite("Folders of the library")
    struct FolderRuleTests {
        private static let products = [
            ("NautilusHTTP", FolderRule.http), ("Nautilus", FolderRule.core), ("NautilusStreams", FolderRule.streams),
            ("NautilusTraffic", FolderRule.traffic), ("NautilusSessions", FolderRule.sessions),
            ("NautilusOAuth", FolderRule.oauth),
        ]

        @Test("each folder names only those that its arrows lead to", arguments: products)
        func rule(product: String, arrows: [String: Set<String>]) throws {
            let rule = try FolderRule(sources: Self.sources(of: product), arrows: arrows)
            for violation in rule.violations.sorted(by: { $0.description < $1.description }) {
                Issue.record("\(violation)")
            }
            #expect(rule.idleArrows.sorted() == [])
            #expect(rule.circles == [])
        }

        @Test("every source is in a folder of its product's table, and every folder has a source", arguments: products)
        func folders(product: String, arrows: [String: Set<String>]) throws {
            #expect(Set(Self.paths(of: product).map(Self.folder(of:))) == Set(arrows.keys))
        }

        @Test("public types are at the top of a folder, and other types in its Internal")
        func machinery() throws {
            let isPublic = try Regex(#"(?m)^ *(@[\w(]+\)? )*public "#)
            // The stages of a call are what a reader looks up in its folder.
            let paths = Repository.files(in: "Sources", withExtension: "swift").filter {
                !$0.contains(".docc/") && !$0.contains("/Call/Call")
            }
            let folders = Dictionary(grouping: paths) { $0.split(separator: "/").dropLast().joined(separator: "/") }
            for (folder, paths) in folders {
                let (top, below) = try paths.reduce(into: ([String](), [String]())) { found, path in
                    if try Repository.text(of: path).contains(isPublic) {
                        found.0.append(path)
                    } else {
                        found.1.append(path)
                    }
                }
                if folder.contains("/Internal") { #expect(top == []) } else if !top.isEmpty { #expect(below == []) }
            }
        }

        @Test("an arrow that no source needs, and a circle, are found")
        func table() {
            let rule = FolderRule(
                sources: [
                    "A": [SwiftSource(path: "A/A.swift", text: "struct A { let b: B }")],
                    "B": [SwiftSource(path: "B/B.swift", text: "struct B {}")],
                    "C": [SwiftSource(path: "C/C.swift", text: "struct C {}")],
                ],
                arrows: ["A": ["B", "C"], "B": ["A"], "C": []]
            )
            #expect(rule.folders(knownTo: "A") == ["A", "B", "C"])
            #expect(rule.idleArrows.sorted() == ["A → C", "B → A"])
            #expect(rule.circles.sorted() == ["A", "B"])
        }

        @Test("a type named against the arrows is found; in a comment, a text or another word it is not")
        func finds() {
            let rule = FolderRule(
                sources: [
                    "Call": [SwiftSource(path: "Call/A.swift", text: "struct Call {}\nprivate struct Hidden {}")],
                    "Retry": [SwiftSource(path: "Retry/B.swift", text: "public protocol Retrier {}\nlet a: Gate?\n")],
                    "Transport": [
                        SwiftSource(path: "Transport/C.swift", text: "struct Gate {\n    let hidden: Hidden\n}\n")
                    ],
                    "Support": [
                        SwiftSource(
                            path: "Support/D.swift",
                            text: """
                                // Call, Gate
                                let text = "Call"; let recall = Caller()
                                /* Gate
                                   Call */
                                let call: Call, name = "\\"Gate"
                                """
                        )
                    ],
                ],
                arrows: ["Call": ["Support"], "Retry": ["Support"], "Transport": ["Support"], "Support": []]
            )
            #expect(
                Set(rule.violations.map(\.description)) == [
                    "Support/D.swift:5: Call is of Call, where no arrow leads",
                    "Retry/B.swift:2: Gate is of Transport, where no arrow leads",
                ]
            )
        }

        private static func sources(of product: String) throws -> [String: [SwiftSource]] {
            var sources: [String: [SwiftSource]] = [:]
            for path in paths(of: product) {
                let source = SwiftSource(path: path, text: try Repository.text(of: path))
                sources[folder(of: path), default: []].append(source)
            }
            return sources
        }

        private static func paths(of product: String) -> [String] {
            Repository.files(in: "Sources/\(product)", withExtension: "swift")
        }

        private static func folder(of path: String) -> String {
            path.split(separator: "/").dropFirst(2).dropLast().first.map(String.init) ?? ""
        }
    }
}
