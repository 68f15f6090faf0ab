import Testing

@testable import NautilusOAuth

@Suite("RedirectTarget")
struct RedirectTargetTests {
    @Test("a target ends where the query or the fragment begins, whatever follows the sign")
    func end() throws {
        let target = try #require(RedirectTarget("app:/in"))
        for url in ["app:/in?", "app:/in#", "app:/in?a#b", "app:/in?\u{301}a", "app:/in#\u{301}"] {
            #expect(RedirectTarget(url[...]) == target)
        }
    }

    @Test(
        "a text that is not an absolute URL, is not ASCII, or has a user in it has no target",
        arguments: [
            "", "/in", "in", ":", "1a:/in", "a b:/in", "a_b:/in", "https://ann@notes.test/", "https://@notes.test/",
            "https://note\u{17F}.test/", "https://notes.test/\u{E9}", "app?a:/in",
        ]
    )
    func none(url: String) {
        #expect(RedirectTarget(url[...]) == nil)
    }
}
