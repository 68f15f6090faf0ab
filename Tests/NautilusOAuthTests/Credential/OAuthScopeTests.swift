import NautilusOAuth
import Testing

@Suite("OAuthScope")
struct OAuthScopeTests {
    @Test("a scope is read from, and written as, tokens separated by blanks, whatever their order and number")
    func text() {
        let scope = OAuthScope(parsing: " notes.write  notes.read notes.read ")
        #expect(scope == ["notes.read", "notes.write"])
        #expect(scope.description == "notes.read notes.write")
        #expect(OAuthScope(parsing: "").isEmpty)
    }
}
