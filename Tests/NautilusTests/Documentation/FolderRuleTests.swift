import Testing

extension Documentation {
    @Suite("Folders of the library")
    struct FolderRuleTests {
        @Test("each row of folders knows only the rows above it")
        func rule() throws {
            for violation in try Self.library().violations.sorted(by: { $0.description < $1.description }) {
                Issue.record("\(violation)")
            }
        }

        @Test("every source of the library is in a folder of the rule, and every folder has a source")
        func folders() throws {
            #expect(try Set(Self.library().sources.keys) == Set(FolderRule.rows.joined()))
        }

        @Test("a folder knows itself and the rows above, not its siblings")
        func known() {
            #expect(FolderRule.folders(knownTo: "Trace") == ["Support", "Request", "Trace"])
            #expect(!FolderRule.folders(knownTo: "Traffic").contains("Authorization"))
            #expect(
                FolderRule.folders(knownTo: "Retry") == ["Support", "Request", "Trace", "Response", "Attempt", "Retry"]
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

        private static func library() throws -> FolderRule {
            var sources: [String: [SwiftSource]] = [:]
            for path in Repository.files(in: "Sources/Nautilus", withExtension: "swift") {
                let folder = path.split(separator: "/").dropFirst(2).dropLast().first.map(String.init) ?? ""
                sources[folder, default: []].append(SwiftSource(path: path, text: try Repository.text(of: path)))
            }
            return FolderRule(sources: sources)
        }
    }
}
