import Testing

extension Documentation {
    @Suite("Code blocks of the documents")
    struct CodeBlockTests {
        @Test(
            "the Swift code of each document compiles, without a warning",
            .enabled(if: SwiftCompiler.isAvailable, "there is no compiler on this platform"),
            arguments: Document.withCode
        )
        func compiles(path: String) async throws {
            let document = try Document(path: path)
            #expect(!document.swiftBlocks.isEmpty, "\(path) should show Swift code")
            let complaints = try await SwiftCompiler.complaints(about: document.script)
            #expect(complaints.isEmpty, "\(complaints)")
        }

        @Test("every block is closed and says what it is", arguments: Document.all)
        func isMarked(path: String) throws {
            for block in try Document(path: path).blocks {
                #expect(block.isClosed, "\(path):\(block.fence): the block has no end")
                #expect(
                    ["swift", "sh", "text", "json"].contains(block.language),
                    "\(path):\(block.fence): say swift, sh, text or json after the fence"
                )
            }
        }

        @Test(
            "the check refuses wrong code, and names the document's own line",
            .enabled(if: SwiftCompiler.isAvailable, "there is no compiler on this platform"),
            arguments: [
                ("let id: Int = \"seven\"", "Wrong.md:7:15: error:"),
                ("let status: HttpStatus = 200", "Wrong.md:7:13: error:"),
                ("func unused() { let id = 7 }", "Wrong.md:7:21: error:"),
            ]
        )
        func refuses(code: String, complaint: String) async throws {
            let document = Document(path: "Wrong.md", text: Self.text(with: code))
            let complaints = try await SwiftCompiler.complaints(about: document.script)
            #expect(complaints.contains(complaint), "\(complaints)")
        }

        @Test(
            "the check lets right code pass, the test kit's and a later block's use of an earlier one included",
            .enabled(if: SwiftCompiler.isAvailable, "there is no compiler on this platform")
        )
        func accepts() async throws {
            let code = """
                import NautilusTesting
                import Testing
                @Test func answers() { #expect(header.isEmpty && ScriptedTransport(.status(204)).count == 0) }
                """
            let document = Document(path: "Right.md", text: Self.text(with: code))
            #expect(try await SwiftCompiler.complaints(about: document.script) == "")
        }

        @Test("a script has the document's lines: the code in its place, the rest blank")
        func script() {
            let document = Document(path: "A.md", text: "# A\n```swift\nlet a = 1\n```\ntext\n```text\nno code\n```\n")
            #expect(document.blocks.map(\.language) == ["swift", "text"])
            #expect(document.blocks.map(\.fence) == [2, 6])
            #expect(document.script == "#sourceLocation(file: \"A.md\", line: 2)\n\nlet a = 1\n\n\n\n\n\n")
        }

        @Test("a block without an end is found")
        func unclosed() {
            #expect(Document(path: "A.md", text: "# A\n```swift\nlet a = 1").blocks.map(\.isClosed) == [false])
        }

        private static func text(with code: String) -> String {
            """
            # A document
            ```swift
            import Nautilus
            let header: HttpHeader = [:]
            ```
            ```swift
            \(code)
            ```
            """
        }
    }
}
