import Testing

extension Documentation {
    @Suite("Folders of the library")
    struct FolderRuleTests {
        private static let products = [
            ("Nautilus", FolderRule.rows), ("NautilusSessions", FolderRule.sessionsRows),
            ("NautilusOAuth", FolderRule.oauthRows),
        ]

        @Test("each row of folders knows only the rows above it", arguments: products)
        func rule(product: String, rows: [[String]]) throws {
            let rule = try FolderRule(sources: Self.sources(of: product), rows: rows)
            for violation in rule.violations.sorted(by: { $0.description < $1.description }) {
                Issue.record("\(violation)")
            }
        }

        @Test("every source is in a folder of its product's rule, and every folder has a source", arguments: products)
        func folders(product: String, rows: [[String]]) throws {
            #expect(try Set(Self.sources(of: product).keys) == Set(rows.joined()))
        }

        @Test("a folder knows itself and the rows above, not its siblings")
        func known() {
            let rule = FolderRule(sources: [:])
            #expect(rule.folders(knownTo: "Trace") == ["Support", "Request", "Body", "Trace"])
            #expect(!rule.folders(knownTo: "Retry").contains("Authorization"))
            #expect(
                rule.folders(knownTo: "Retry")
                    == ["Support", "Request", "Body", "Trace", "Response", "Declaration", "Attempt", "Retry"]
            )
        }

        @Test("a type named from above or from a sibling is found; in a comment, a text or another word it is not")
        func finds() {
            let rule = FolderRule(sources: [
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
            ])
            #expect(
                Set(rule.violations.map(\.description)) == [
                    "Support/D.swift:5: Call is of Call, which is not above",
                    "Retry/B.swift:2: Gate is of Transport, which is not above",
                ]
            )
        }

        private static func sources(of product: String) throws -> [String: [SwiftSource]] {
            var sources: [String: [SwiftSource]] = [:]
            for path in Repository.files(in: "Sources/\(product)", withExtension: "swift") {
                let folder = path.split(separator: "/").dropFirst(2).dropLast().first.map(String.init) ?? ""
                sources[folder, default: []].append(SwiftSource(path: path, text: try Repository.text(of: path)))
            }
            return sources
        }
    }
}
