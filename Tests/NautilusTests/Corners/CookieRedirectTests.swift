import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Redirects that wait for a cookie")
struct CookieRedirectTests {
    private static let hint = "Nautilus keeps no cookies, so send it in `header`"
    private static let cookie: HttpHeader = ["Location": "/things", "Set-Cookie": "session=secret; Path=/"]

    private func error(_ replies: ScriptedReply..., then last: ScriptedReply) async throws -> String {
        let served = Counter()
        let transport = ScriptedTransport { _, _ in
            let number = served.increment()
            return number <= replies.count ? replies[number - 1] : last
        }
        let outcome = try await outcome(of: Ping.get, retrier: .never, transport)
        return try #require(outcome.error).description
    }

    @Test("F21: a redirect that sets a cookie and leads back to itself says that a cookie may be wanted")
    func itself() async throws {
        let text = try await error(then: .status(302, header: Self.cookie))
        #expect(text.contains("the redirects lead in a circle") && text.contains(Self.hint))
        #expect(!text.contains("secret"))
    }

    @Test("F21: the cookie may have been set by any redirect of the circle")
    func anyHop() async throws {
        var away = Self.cookie
        away["Location"] = "/consent"
        let text = try await error(.status(307, header: away), then: .status(302, header: ["Location": "/things"]))
        #expect(text.contains("the redirects lead in a circle") && text.contains(Self.hint))
    }

    @Test("F21: an endless chain of redirects that sets a cookie says that it may wait for the cookie")
    func chain() async throws {
        let served = Counter()
        let transport = ScriptedTransport { _, _ in
            .status(302, header: ["Location": "/\(served.increment())", "Set-Cookie": "n=1"])
        }
        let outcome = try await outcome(of: Ping.get, retrier: .never, transport)
        let text = try #require(outcome.error).description
        #expect(text.contains("more than 20 redirects") && text.contains(Self.hint))
    }

    @Test("F21: a circle without cookies, and a refusal for another reason, do not mention cookies")
    func without() async throws {
        let circle = try await error(then: .status(302, header: ["Location": "/things"]))
        #expect(circle.contains("circle") && !circle.contains("cookie"))
        let downgrade = try await error(
            then: .status(302, header: ["Location": "http://a.com/", "Set-Cookie": "n=1"])
        )
        #expect(downgrade.contains("from https to http") && !downgrade.contains("cookie"))
    }
}
