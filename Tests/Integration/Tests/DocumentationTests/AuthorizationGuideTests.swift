import Testing

extension Documentation {
    @Suite("The guide to authorization")
    struct AuthorizationGuideTests {
        @Test("the authorization guide ends with the example's AuthorizationRetrier, letter by letter")
        func isTheExample() throws {
            let guide = try Document(path: "Guides/Authorization.md")
            let example = try Repository.text(of: "Examples/Sources/NotesAPI/AuthorizationRetrier.swift")
            #expect((guide.swiftBlocks.last?.code.joined(separator: "\n") ?? "") + "\n" == example)
        }
    }
}
