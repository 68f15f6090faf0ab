import DemoServers
import Testing

@Suite("DemoClient and DemoScope", .timeLimit(.minutes(10)))
struct DemoClientTests {
    @Test(
        "a user is sent back to this machine or to a registered address, and nowhere else",
        arguments: [
            ("http://127.0.0.1:4711/back", true), ("http://127.0.0.1/back?a=b", true), ("http://[::1]:1/", true),
            ("http://LOCALHOST:1", true), ("example.notes:/signed-in", true),
            ("example.notes:/signed-in/", false), ("https://127.0.0.1/", false),
            ("http://127.0.0.1.evil.example/", false), ("http://127.0.0.1@evil.example/", false),
            ("http://user@127.0.0.1/", false), ("http://127.0.0.1/#a", false),
            ("/back", false), ("", false), ("javascript:alert(1)", false),
            ("http://127.0.0.1/\r\nX-Injected: 1", false), ("http://127.0.0.1/a b", false),
            ("http://127.0.0.1/é", false),
        ]
    )
    func redirects(uri: String, isAllowed: Bool) {
        #expect(DemoClient.app.mayRedirect(to: uri) == isAllowed)
    }

    @Test("client credentials need a secret, whatever the registration says")
    func credentials() {
        #expect(!OAuthBench.pretender.mayUse(.clientCredentials))
        #expect(DemoClient.service.mayUse(.clientCredentials))
        #expect(!DemoClient(id: "a", secret: "b", grants: []).mayUse(.clientCredentials))
    }

    @Test("a client prints no secret, whichever way it is printed")
    func redaction() {
        let client = DemoClient(id: "a", secret: "s3cret", grants: [])
        var dumped = ""
        dump(client, to: &dumped)
        for text in ["\(client)", String(reflecting: client), dumped] { #expect(!text.contains("s3cret")) }
    }

    @Test(
        "a scope is narrowed to a part of itself, and to nothing else",
        arguments: [
            (nil, "notes.read notes.write"), ("notes.read", "notes.read"),
            ("notes.write  notes.read", "notes.read notes.write"), ("", nil), (" ", nil), ("notes.admin", nil),
            ("notes.read notes.admin", nil), ("Notes.read", nil),
        ] as [(String?, String?)]
    )
    func narrowing(asked: String?, granted: String?) {
        #expect(DemoScope.all.narrowed(to: asked)?.description == granted)
    }
}
