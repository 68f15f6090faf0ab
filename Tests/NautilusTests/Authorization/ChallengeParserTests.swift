import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("B22: WWW-Authenticate")
struct ChallengeParserTests {
    @Test(
        "B22: challenges are told apart from one another's parameters",
        arguments: [
            (#"Basic realm="simple""#, [#"basic realm=simple"#]),
            (
                #"Bearer realm="a", error="invalid_token", error_description="expired, or \"revoked\"""#,
                [#"bearer error=invalid_token error_description=expired, or "revoked" realm=a"#]
            ),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                [#"newauth realm=apps title=Login to "apps" type=1"#, "basic realm=simple"]
            ),
            ("Negotiate", ["negotiate"]),
            ("Negotiate, NTLM", ["negotiate", "ntlm"]),
            ("Negotiate abcd+/==, Bearer", ["negotiate <abcd+/==>", "bearer"]),
            ("Basic, Bearer realm=x", ["basic", "bearer realm=x"]),
            (#"BEARER ERROR="insufficient_scope", Scope="a b""#, ["bearer error=insufficient_scope scope=a b"]),
            (#"Bearer  realm = "x" ,  error =invalid_token"#, ["bearer error=invalid_token realm=x"]),
            ("Bearer\trealm=x", ["bearer realm=x"]),
            (#"Digest qop="auth,auth-int", nonce="a=b", Bearer"#, ["digest nonce=a=b qop=auth,auth-int", "bearer"]),
            (", , Bearer realm=x, ,", ["bearer realm=x"]),
            ("Bearer resource=https://a.example/b?c=d, error=e", ["bearer error=e resource=https://a.example/b?c=d"]),
            (#"Bearer error="first", error="second""#, ["bearer error=first"]),
            (#"Bearer realm="""#, ["bearer realm="]),
            (#"Bearer realm="ünï""#, ["bearer realm=ünï"]),
            // Garbage: skipped, or read as far as it makes sense.
            ("", []), ("   ", []), (",,,", []), ("=", []), (#"""#, []), (#""Bearer""#, []), ("realm=x", []),
            (#"Bearer realm="open"#, ["bearer realm=open"]), (#"Bearer realm="open\"#, [#"bearer realm=open\"#]),
            (#""a, b", Bearer error=x"#, ["bearer error=x"]), ("(), Bearer", ["bearer"]),
            ("\u{0}\u{1}Bearer\u{0}", ["bearer"]), ("Bearer =", []),
        ]
    )
    func challenges(value: String, expected: [String]) {
        #expect(AuthenticationChallenge.challenges(in: [value]).map(Self.summary) == expected)
    }

    @Test("several fields are read one after the other, and parameters are found in any case")
    func severalFields() throws {
        var header: HttpHeader = ["www-authenticate": "Basic realm=a"]
        header.add(#"Bearer error="invalid_token""#, to: "WWW-AUTHENTICATE")
        #expect(header.challenges.map(\.scheme) == ["basic", "bearer"])
        #expect(header.challenges.last?["ERROR"] == "invalid_token")
        #expect(header.challenges.last?["scope"] == nil)
        #expect(HttpHeader().challenges.isEmpty)
    }

    @Test("a description shows scheme and error only")
    func description() {
        let challenge = AuthenticationChallenge(scheme: "Negotiate", parameters: ["Error": "x"], token68: "s3cret")
        var dumped = ""
        dump(challenge, to: &dumped)
        #expect("\(challenge)" == "negotiate error=x")
        #expect(!(dumped + String(reflecting: challenge)).contains("s3cret"))
    }

    @Test("B22: garbage never trap, and a challenge in front is always found")
    func fuzz() async {
        let alphabet = Array(#"aZ09,,,"""\\== \#t;/+-~()ü"# + "\u{0}\r\n").map(String.init) + ["Bearer", "error=", "%"]
        for seed in 1...UInt64(trials(20_000)) {
            // Others want the thread, too.
            if seed.isMultiple(of: 200) { await Task.yield() }
            var random = SplitMix64(seed: seed)
            let length = Int.random(in: 0...60, using: &random)
            let garbage = (0..<length).map { _ in alphabet.randomElement(using: &random) ?? "" }.joined()
            let challenges = AuthenticationChallenge.challenges(in: [#"Bearer error="x", "# + garbage])
            #expect(challenges.first?.scheme == "bearer" && challenges.first?["error"] == "x", "seed \(seed)")
            let total = challenges.reduce(0) { $0 + $1.scheme.utf8.count + ($1.token68?.utf8.count ?? 0) }
            #expect(total <= garbage.utf8.count + 6, "seed \(seed): nothing is read twice")
        }
    }

    @Test(
        "B22: a long value takes a bounded number of steps for each byte",
        arguments: [
            "a", "\"", "\\", ",", "=", " ", "a ", "a,", "a=", "a=\"", "\"\\", "a a=,", "((", "a b, ", "a/", "/", "a /",
            "a b/", "a b=", "a=/",
        ]
    )
    func linear(piece: String) {
        for end in ["", "\"", ",", "="] {
            #expect(Self.steps(String(repeating: piece, count: (1 << 14) / piece.utf8.count - 1) + end) <= 6 << 14)
        }
    }

    @Test("B22, C31: of a megabyte the first 16 KiB are looked at", arguments: ["a=\"", "a/", "a ", "=", ","])
    func megabyte(piece: String) {
        #expect(Self.steps(String(repeating: piece, count: 1 << 19)) <= 6 << 14)
    }

    @Test("B22, C31: the first sixteen challenges count, of all fields together")
    func count() {
        let schemes = (1...20).map { "s\($0)" }
        let first = Array(schemes.prefix(16))
        #expect(AuthenticationChallenge.challenges(in: [schemes.joined(separator: ", ")]).map(\.scheme) == first)
        #expect(AuthenticationChallenge.challenges(in: schemes).map(\.scheme) == first)
        let withParameters = schemes.map { "\($0) a=\"\($0)\"" }.joined(separator: ", ")
        #expect(AuthenticationChallenge.challenges(in: [withParameters]).map { $0["a"] } == first)
    }

    @Test("B22: the first 16 KiB count, of all fields together; the challenge at the cut is left out")
    func length() {
        let limit = 1 << 14
        let padding = { (length: Int) in "Basic realm=" + String(repeating: "x", count: length - 12) }
        let schemes = { (values: [String]) in AuthenticationChallenge.challenges(in: values).map(\.scheme) }
        #expect(schemes([padding(limit)]) == ["basic"])
        #expect(schemes([padding(limit + 1)]) == [])
        #expect(schemes(["Bearer, " + padding(limit)]) == ["bearer"])
        #expect(schemes(["Bearer", padding(limit - 6)]) == ["bearer", "basic"])
        #expect(schemes(["Bearer", padding(limit - 5)]) == ["bearer"])
        #expect(schemes([padding(limit - 6), "Bearer"]) == ["basic", "bearer"])
        #expect(schemes([padding(limit), "Bearer"]) == ["basic"])
    }

    private static func steps(_ value: String) -> Int {
        var parser = ChallengeParser(value)
        _ = parser.challenges()
        return parser.steps
    }

    private static func summary(_ challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        return challenge.scheme + (challenge.token68.map { " <\($0)>" } ?? "") + parameters.joined()
    }
}
