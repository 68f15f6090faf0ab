import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("StoringRules: responses that may be stored (RFC 9111 §3)")
struct StoringRulesTests {
    private static let fresh: HttpHeader = ["Cache-Control": "max-age=60"]

    @Test(
        "a response is stored when nothing speaks against it, and something for it",
        arguments: [
            (200, fresh, "", true), (404, fresh, "", true), (403, fresh, "", true), (500, fresh, "", false),
            // 206 and 304 are not whole; below 200 nothing is final.
            (206, fresh, "", false), (304, fresh, "", false), (103, fresh, "", false), (600, fresh, "", false),
            // About one credential, and not about what was asked for.
            (401, fresh, "", false), (407, fresh, "", false),
            // Another request would follow it.
            (301, fresh, "", false), (302, fresh, "", false), (303, fresh, "", false), (307, fresh, "", false),
            (308, fresh, "", false),
            // §5.2.1.5, §5.2.2.5: either side forbids it.
            (200, fresh, "no-store", false), (200, ["Cache-Control": "max-age=60, no-store"], "", false),
            (200, ["Cache-Control": "private, max-age=60"], "", true), (200, fresh, "no-cache", true),
            // §5.2.2.3: a status that is understood may ignore the no-store beside must-understand.
            (200, ["Cache-Control": "max-age=60, no-store, must-understand"], "", true),
            (403, ["Cache-Control": "max-age=60, must-understand"], "", false),
            // Nothing speaks for a status that is not cacheable by itself.
            (403, ["ETag": "\"1\""], "", false), (403, ["ETag": "\"1\"", "Cache-Control": "public"], "", true),
            (403, ["Expires": httpDate(60)], "", true), (200, ["ETag": "\"1\""], "", true),
            // A response that can be neither served nor validated is not worth keeping.
            (200, [:], "", false), (200, ["Cache-Control": "max-age=0"], "", false),
            (200, ["Cache-Control": "max-age=0, stale-while-revalidate=5"], "", true),
            (200, ["Cache-Control": "max-age=0, stale-if-error=5"], "", true),
            (200, ["Cache-Control": "s-maxage=60"], "", false),
        ] as [(Int, HttpHeader, String, Bool)]
    )
    func allows(status: Int, header: HttpHeader, request: String, isAllowed: Bool) {
        let stored = StoredResponse.test(header, status: status)
        let lifetime = Freshness(stored, now: CacheWorld.start, heuristicCap: 3_600).lifetime
        let control = CacheControl(request.isEmpty ? [:] : ["Cache-Control": request])
        #expect(
            StoringRules.allows(stored, request: control, lifetime: lifetime, staleIfError: 0) == isAllowed
        )
    }

    @Test(
        "parts and the caller's own conditions pass by",
        arguments: [
            "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        ] as [HttpHeader.Name]
    )
    func conditions(name: HttpHeader.Name) throws {
        #expect(HttpCache.concerns(try .test()))
        #expect(!HttpCache.concerns(try .test(header: HttpHeader([.init(name: name, value: "x")]))))
    }

    @Test(
        "of a header everything is kept but cookies, what answers one credential, and what is between neighbours (§3.1)"
    )
    func header() {
        let kept: HttpHeader = [
            "Content-Type": "text/plain", "ETag": "\"1\"", "X-Next-Page-Token": "7", "X-Idempotency-Key": "k",
            "X-Session-Length": "3600", "WWW-Authenticate": "Bearer", "X-Passengers": "4", "X-Key-Id": "1",
        ]
        let dropped: HttpHeader = [
            "Set-Cookie": "id=secret", "set-cookie2": "id=secret", "Authentication-Info": "nextnonce=1",
            "Proxy-Authenticate": "Basic", "Proxy-Authorization": "Basic secret",
            "Proxy-Authentication-Info": "nextnonce=1",
            "Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "Transfer-Encoding": "chunked",
        ]
        #expect(StoredResponse.test(kept.merging(dropped)).header == kept)
    }

    @Test("responses that vary by everything or by a secret are for nobody else; Authorization is left to the account")
    func vary() throws {
        let request = try HttpRequest.test(header: [
            "Accept": "text/html ,  text/plain", "Authorization": "Bearer secret",
        ])
        func selectors(_ vary: String, account: String? = "anna") -> [String: String?]? {
            VarySelectors(["Vary": vary], seen: request, sent: request, CachePartition(account: account))?
                .values.mapValues(\.seen)
        }
        #expect(selectors("accept, Accept-Language") == ["accept": "text/html,text/plain", "accept-language": nil])
        #expect(selectors("Authorization") == [:])
        #expect(selectors("authorization", account: nil) == nil)
        #expect(selectors("Accept, Authorization", account: nil) == nil)
        #expect(selectors("", account: nil) == [:])
        #expect(selectors("*") == nil)
        #expect(selectors("Accept, *") == nil)
        #expect(selectors("Cookie") == nil)
        #expect(selectors("X-Api-Key") == nil)
        // A megabyte of names is no choice of representations.
        #expect(selectors(String(repeating: "b", count: 8_192)) != nil)
        #expect(selectors(String(repeating: "b", count: 8_193)) == nil)
    }

    @Test(
        "a target is the URL without its fragment, and with a path",
        arguments: [
            ("https://api.example.com", "/"), ("https://api.example.com?a=1", "/?a=1"),
            ("https://api.example.com/#part", "/"), ("https://api.example.com/a/b?c=d/e#f", "/a/b?c=d/e"),
            ("HTTPS://API.example.com:443/a", "/a"), ("https://user:word@api.example.com/a", "/a"),
        ]
    )
    func target(url: String, path: String) throws {
        let target = try #require(CacheTarget(try .test(url)))
        #expect((target.path, target.origin.description) == (path, "https://api.example.com"))
    }

    @Test(
        "a location leads where a redirect's would, whatever of it a server has left unencoded",
        arguments: [
            ("/notes/für dich", "/notes/f%C3%BCr%20dich"), ("/notes/f%C3%BCr dich", "/notes/f%C3%BCr%20dich"),
            ("7?a=b c#part", "/7?a=b%20c"), ("https://api.example.com/a|b", "/a%7Cb"), ("//other.example.com/a", nil),
        ] as [(String, String?)]
    )
    func related(location: String, path: String?) throws {
        let target = try #require(CacheTarget(trafficRequest))
        #expect(target.related(location, to: trafficRequest.url)?.path == path)
    }
}
