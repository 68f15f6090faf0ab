import Testing

extension Documentation {
    @Suite(
        "Compiler messages for common mistakes",
        .enabled(if: SwiftCompiler.isAvailable, "there is no compiler on this platform")
    )
    struct NewcomerMessageTests {
        @Test(
            "F26: a request without a route does not compile, however its route was misspelled or mistyped",
            arguments: [
                ("struct A: Request { typealias Result = Void }", "'A' does not conform to protocol 'Request'"),
                (
                    "struct A: JsonRequest { typealias Result = Int; var routes: HttpRoute { [] } }",
                    "'A' does not conform to protocol 'Request'"
                ),
                (
                    "struct A: JsonRequest { typealias Result = Int; var route: [String] { [] } }",
                    "'A' does not conform to protocol 'Request'"
                ),
                (
                    "struct A: StreamRequest { typealias Message = String; typealias Result = String }",
                    "'A' does not conform to protocol 'StreamRequest'"
                ),
            ]
        )
        func route(declaration: String, text: String) async throws {
            #expect(try await Self.complaints(about: declaration).contains(text))
        }

        @Test(
            "F26: the compiler warns of computed near misses in the form of the guides, for Xcode 26 as well",
            arguments: [
                "struct A {}; extension A: Request", "nonisolated struct A {}; nonisolated extension A: Request",
            ]
        )
        func nearMisses(form: String) async throws {
            let rules = [
                "timeout": "Double { 5 }", "header": "[String: String] { [:] }", "headers": "HttpHeader { [:] }",
            ]
            for (name, rule) in rules {
                let declaration =
                    "\(form) { typealias Result = Void; var route: HttpRoute { [] }; var \(name): \(rule) }"
                let complaints = try await Self.complaints(about: declaration)
                #expect(complaints.contains("property '\(name)' nearly matches defaulted requirement"), "\(complaints)")
            }
        }

        @Test("F28: code that makes a BackoffRetrier is told of its factory", arguments: ["maxAttempts: 3", ""])
        func factory(arguments: String) async throws {
            let complaints = try await Self.complaints(about: "_ = BackoffRetrier(\(arguments))")
            #expect(complaints.contains("a service takes a factory: BackoffRetrier.factory()"), "\(complaints)")
        }

        private static func complaints(about code: String) async throws -> String {
            try await SwiftCompiler.complaints(about: "import Nautilus\nimport NautilusStreams\n\(code)\n")
        }
    }
}
