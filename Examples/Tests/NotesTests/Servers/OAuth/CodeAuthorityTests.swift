import DemoServers
import Testing

@Suite("CodeAuthority", .timeLimit(.minutes(10)))
struct CodeAuthorityTests {
    private var authority = CodeAuthority(environment: "staging")
    private let code: String

    init() {
        code = authority.issue(
            .init(
                client: "app",
                redirectUri: OAuthBench.redirectUri,
                scope: DemoScope("notes.read"),
                challenge: PkceChallenge(verifier: OAuthBench.verifier)
            ),
            at: .seconds(5)
        )
    }

    private func check(
        _ code: String,
        client: String = "app",
        redirectUri: String = OAuthBench.redirectUri,
        verifier: String = OAuthBench.verifier,
        at now: Duration = .seconds(5)
    ) -> Result<DemoScope, CodeAuthority.Refusal> {
        authority.check(code, client: client, redirectUri: redirectUri, verifier: verifier, at: now).map(\.scope)
    }

    @Test("a code is good for 60 seconds, and not a nanosecond longer")
    func expiry() {
        #expect(check(code, at: .seconds(65) - .nanoseconds(1)) == .success(DemoScope("notes.read")))
        #expect(check(code, at: .seconds(65)) == .failure(.expired))
    }

    @Test("a code is good for its client, its address and its verifier alone, and survives those that are wrong")
    func bindings() {
        #expect(check("garbage") == .failure(.unknown))
        #expect(check(code, client: "other") == .failure(.otherClient))
        #expect(check(code, redirectUri: OAuthBench.redirectUri + "/") == .failure(.otherRedirectUri))
        #expect(check(code, verifier: String(repeating: "a", count: 43)) == .failure(.wrongVerifier))
        #expect(check(code) == .success(DemoScope("notes.read")))
    }

    @Test("a code serves once, and a second use names what the first one got, even after its time")
    mutating func singleUse() {
        var tokens = TokenAuthority(environment: "staging")
        let pair = tokens.signIn(at: .zero)
        authority.redeem(code, for: pair)
        #expect(check(code) == .failure(.redeemed(refreshToken: pair.refreshToken)))
        #expect(check(code, at: .seconds(100)) == .failure(.redeemed(refreshToken: pair.refreshToken)))
        #expect(check(code, client: "other") == .failure(.otherClient))
    }

    @Test("each code is another, and the same seed draws the same")
    func seeds() {
        func draw(_ seed: UInt64) -> [String] {
            var authority = CodeAuthority(environment: "staging", seed: seed)
            let authorization = CodeAuthority.Authorization(
                client: "app",
                redirectUri: "",
                scope: .all,
                challenge: PkceChallenge(verifier: "")
            )
            return (0..<3).map { _ in authority.issue(authorization, at: .zero) }
        }
        #expect(Set(draw(1)).count == 3)
        #expect(draw(1) == draw(1))
        #expect(draw(1) != draw(2))
    }
}
