import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Servers' rate limit fields")
struct RateLimitTests {
    /// 2026-11-21 04:18:07 UTC, the time of the client's clock and of the responses.
    static let now = Date(timeIntervalSince1970: 1_795_234_687)
    static let date: HttpHeader = ["Date": "Sat, 21 Nov 2026 04:18:07 GMT"]

    private static func limits(_ fields: KeyValuePairs<String, String>) -> String {
        let header = HttpHeader(fields.map { .init(name: .init($0.key), value: $0.value) })
        return header.rateLimits(now: now).map(text).joined(separator: ", ")
    }

    private static func text(_ limit: RateLimit) -> String {
        let name = limit.policy + (limit.partition.map { "(\($0))" } ?? "")
        let (quota, window) = (limit.quota.map { " of \($0)" } ?? "", limit.window.map { " in \($0.brief)" } ?? "")
        return "\(name): \(limit.remaining)\(quota)\(window), "
            + (limit.reset.map { "reset in \($0.brief)" } ?? "no reset")
    }

    @Test("the draft's own examples are understood")
    func draft() {
        #expect(Self.limits(["RateLimit": "\"default\";r=50;t=30"]) == "default: 50, reset in 30 s")
        #expect(
            Self.limits(["RateLimit": "\"default\";r=999;pk=:dHJpYWwxMjEzMjM=:"])
                == "default(dHJpYWwxMjEzMjM=): 999, no reset"
        )
        #expect(
            Self.limits([
                "RateLimit-Policy": "\"fixedwindow\";q=100;w=60", "RateLimit": "\"fixedwindow\";r=99;t=50",
            ]) == "fixedwindow: 99 of 100 in 60 s, reset in 50 s"
        )
        #expect(
            Self.limits([
                "RateLimit-Policy": "\"hour\";q=1000;w=3600, \"day\";q=5000;w=86400",
                "RateLimit": "\"day\";r=100;t=36000",
            ]) == "day: 100 of 5000 in 86400 s, reset in 36000 s"
        )
    }

    @Test("several policies come in one field or in several, each with its own policy and partition")
    func several() {
        #expect(
            Self.limits([
                "ratelimit": "\"burst\";r=8;t=1;pk=:YQ==:", "RATELIMIT": "\"daily\";r=0;t=69076",
                "RateLimit-Policy": "\"burst\";q=10;w=10;pk=:Yg==:",
                "RateLimit-policy": "\"burst\";q=11;w=11;pk=:YQ==:",
            ]) == "burst(YQ==): 8 of 11 in 11 s, reset in 1 s, daily: 0, reset in 69076 s"
        )
        let many = (0..<20).map { "\"p\($0)\";r=1;t=1" }.joined(separator: ", ")
        #expect(HttpHeader([.init(name: "RateLimit", value: many)]).rateLimits().count == 16)
    }

    @Test("of a longer field only the first sixteen are looked at: no limit, and no policy, behind them counts")
    func tooMany() {
        let others = (0..<16).map { "\"p\($0)\";q=1" }.joined(separator: ", ")
        #expect(Self.limits(["RateLimit": "\(others), \"a\";r=1;t=5"]) == "")
        let limit = "\"a\";r=1;t=5"
        #expect(
            Self.limits(["RateLimit-Policy": "\(others), \"a\";q=9", "RateLimit": limit]) == "a: 1, reset in 5 s"
        )
        #expect(
            Self.limits(["RateLimit-Policy": "\"a\";q=9, \(others)", "RateLimit": limit]) == "a: 1 of 9, reset in 5 s"
        )
    }

    @Test(
        "older and laxer spellings of the same are understood",
        arguments: [
            ("default;r=5;t=1", "default: 5, reset in 1 s"),
            ("\"a\";r=5;t=1;pk=\"user-1\"", "a(user-1): 5, reset in 1 s"),
            ("limit=100, remaining=50, reset=5", ": 50 of 100, reset in 5 s"),
            ("limit=100, remaining=0, reset=0;x=1", ": 0 of 100, reset in 0 ms"),
            ("\"a\";r=1;t=99999999999999", "a: 1, reset in 4294967295 s"),
        ]
    )
    func spellings(value: String, expected: String) {
        #expect(Self.limits(["RateLimit": value]) == expected)
    }

    @Test(
        "a malformed rate limit field counts as none",
        arguments: [
            "", "100", "\"a\"", "\"a\";t=5", "\"a\";r=-1;t=5", "\"a\";r=1.5;t=5", "\"a\";r=\"1\"", "\"a\";r=1,",
            "r=1;t=5",
            "\"a;r=1", "limit=100, reset=5", "limit=100, remaining=-1, reset=5", "remaining=x", "(\"a\");r=1;t=5",
        ]
    )
    func malformed(value: String) {
        #expect(Self.limits(["RateLimit": value]) == "")
    }

    @Test(
        "F12c: a limit beside a display string or an unreadable member is kept; a malformed field leaves the older ones",
        arguments: [
            (#""a";r=1;t=2;note=%"a \ b""#, "a: 1, reset in 2 s"),
            (
                #""x";r=y, "a";r=1;t=2, "z", ("d");r=1, 7;r=1, "w";r=-1, "v";r=1.5;t=1, "b";r=0;t=?1"#,
                "a: 1, reset in 2 s, b: 0, no reset"
            ),
            ("remaining=1, limit=x, reset=(1 2)", ": 1, no reset"),
            (#""a";r=1;t=2, "b";r=="#, ": 7, no reset"),
        ]
    )
    func unreadableMembers(value: String, expected: String) {
        #expect(Self.limits(["RateLimit": value, "X-RateLimit-Remaining": "7"]) == expected)
    }

    @Test("a malformed policy is left out, and the limit stands")
    func malformedPolicy() {
        // As one server really writes it: two values in one item.
        let policy = "\"fixed window\";\"resolvers\";q=3000;w=300"
        #expect(
            Self.limits(["RateLimit-Policy": policy, "RateLimit": "\"resolvers\";r=0;t=52"])
                == "resolvers: 0, reset in 52 s"
        )
    }

    @Test("a quota of bytes, or of concurrent requests, counts only when it is used up")
    func units() {
        for unit in ["content-bytes", "concurrent-requests"] {
            let policy = "\"a\";q=65535;qu=\"\(unit)\";w=10"
            #expect(Self.limits(["RateLimit-Policy": policy, "RateLimit": "\"a\";r=1;t=5"]) == "")
            #expect(
                Self.limits(["RateLimit-Policy": policy, "RateLimit": "\"a\";r=0;t=5"]) == "a: 0 in 10 s, reset in 5 s"
            )
        }
        #expect(
            Self.limits(["RateLimit-Policy": "\"a\";q=5;qu=\"requests\"", "RateLimit": "\"a\";r=1;t=5"])
                == "a: 1 of 5, reset in 5 s"
        )
    }

    @Test(
        "the older fields are understood, each family of names, the newest first",
        arguments: ["RateLimit-", "X-RateLimit-", "x-ratelimit-", "X-Rate-Limit-"]
    )
    func separate(prefix: String) {
        let limit = ": 42 of 60, reset in 30 s"
        #expect(Self.limits([prefix + "Limit": "60", prefix + "Remaining": "42", prefix + "Reset": "30"]) == limit)
        #expect(
            Self.limits([
                "X-Rate-Limit-Remaining": "1", prefix + "Limit": "60", prefix + "Remaining": "42",
                prefix + "Reset": "30",
            ]).hasPrefix(prefix == "X-Rate-Limit-" ? ": 1" : ": 42")
        )
    }

    @Test("the strictest of several rate limits counts, with the window of its quota or policy")
    func strictest() {
        #expect(
            Self.limits([
                "X-RateLimit-Remaining": "5", "X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1",
                "X-RateLimit-Reset": "9",
            ]) == ": 3, reset in 9 s"
        )
        #expect(
            Self.limits([
                "RateLimit-Limit": "100, 100;w=60, 5000;w=3600", "RateLimit-Remaining": "0", "RateLimit-Reset": "7",
            ]) == ": 0 of 100 in 60 s, reset in 7 s"
        )
        #expect(
            Self.limits([
                "RateLimit-Policy": "10;w=1, 50;w=60", "RateLimit": "limit=50, remaining=0, reset=5",
            ]) == ": 0 of 50 in 60 s, reset in 5 s"
        )
    }

    @Test(
        "of fields that were joined into one the strictest counts, too",
        arguments: [
            ("5, 3", "1, 9", ": 3, reset in 9 s"), ("3,5", "9,1", ": 3, reset in 9 s"),
            ("x, 4", "x, 2", ": 4, reset in 2 s"),
            ("4", "5, Sat, 21 Nov 2026 04:19:07 GMT", ": 4, reset in 60 s"),
            ("4", "Sat, 21 Nov 2026 04:18:11 GMT, 1795234746", ": 4, reset in 59 s"),
            ("4;w=60, 3;w=1", "", ": 3, no reset"),
        ]
    )
    func joined(remaining: String, reset: String, expected: String) {
        #expect(Self.limits(["X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset]) == expected)
    }

    @Test(
        "a reset is seconds from now, or a moment, told apart by its size, and measured against the response's Date",
        arguments: [
            ("0", "0 ms"), ("59.01", "60 s"), ("59.0", "59 s"), (" 7 ", "7 s"), ("-5", "0 ms"),
            ("999999999", "999999999 s"),
            ("1795234747", "60 s"), ("1795234746.5", "60 s"), ("1795234687", "0 ms"), ("1795234686", "0 ms"),
            ("1000000000", "0 ms"),
            ("1795234747000", "60 s"), ("1795234746001", "60 s"), ("100000000000", "0 ms"),
            ("Sat, 21 Nov 2026 04:19:07 GMT", "60 s"), ("Sat, 21 Nov 2026 04:17:07 GMT", "0 ms"),
            ("99999999999999999999999", "4294967295 s"),
            ("2026-11-21T04:19:07Z", "60 s"), ("6m0s", nil), ("soon", nil), ("", nil), ("1 2", nil), (".5", nil),
            ("+5", nil),
        ] as [(String, String?)]
    )
    func resets(value: String, expected: String?) {
        let text = ": 0, " + (expected.map { "reset in \($0)" } ?? "no reset")
        #expect(Self.limits(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": value]) == text)
    }

    @Test("a server whose clock is wrong is measured by its own clock")
    func wrongClock() {
        let hourLate = "Sat, 21 Nov 2026 03:18:07 GMT"
        #expect(
            Self.limits(["Date": hourLate, "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795231147"])
                == ": 0, reset in 60 s"
        )
    }

    @Test(
        "fields that a cache has kept are ignored, by their age",
        arguments: [("0", 1), ("1", 0), ("x", 1), ("86400", 0)]
    )
    func cached(age: String, count: Int) {
        let header: HttpHeader = ["Age": .init(age), "RateLimit": "\"a\";r=0;t=5"]
        #expect(header.rateLimits().count == count)
    }

    @Test("most headers say nothing of limits, and are not looked at further")
    func nothing() {
        let header: HttpHeader = [
            "Content-Type": "application/json", "X-Request-Id": "7", "Retry-After": "5", "Rate": "1", "X-Rate": "1",
        ]
        #expect(!header.hasRateLimits)
        #expect(header.rateLimits().isEmpty)
        #expect(HttpHeader(dictionaryLiteral: ("x-rate-limit-reset", "1")).hasRateLimits)
        #expect(HttpHeader(dictionaryLiteral: ("RATELIMIT", "1")).hasRateLimits)
    }

    @Test("no description or dump shows the key of a partition")
    func noKeys() {
        let limits = HttpHeader(dictionaryLiteral: ("RateLimit", "\"a\";r=1;t=5;pk=:c2VjcmV0:")).rateLimits()
        var dumped = ""
        dump(limits, to: &dumped)
        let texts = ["\(limits)", String(reflecting: limits), dumped]
        #expect(limits.first?.partition == "c2VjcmV0")
        #expect(texts.allSatisfy { $0.contains("1 of ? left for 5 s") && !$0.contains("c2VjcmV0") })
    }

    @Test("fields of garbage trap nothing, and say nothing that cannot be kept to")
    func fuzz() {
        var generator = SeededGenerator(seed: 4)
        let seeds = [
            "\"burst\";q=100;w=60,\"daily\";q=1000;w=86400", "\"default\";r=50;t=30;pk=:cHsdsRa894==:",
            "limit=100, reset=5",
            "100, 100;w=60", "1795234747", "9223372036854775807", "Sat, 21 Nov 2026 04:19:07 GMT", "-1.5",
            "?1;a=@9, (a b);c",
        ].map { Array($0.utf8) }
        let names: [HttpHeader.Name] = [
            "RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
            "X-RateLimit-Remaining", "X-Rate-Limit-Reset", "Age", "Date",
        ]
        for _ in 0..<trials(20_000) {
            let fields = (0..<Int(generator.next() % 3 + 1)).map { _ in
                let value = Self.mutated(seeds[Int(generator.next() % UInt64(seeds.count))], using: &generator)
                return HttpHeader.Field(name: names[Int(generator.next() % UInt64(names.count))], value: value)
            }
            let limits = HttpHeader(fields).rateLimits(now: Self.now)
            let isSane =
                limits.count <= 16
                && limits.allSatisfy { limit in
                    let times = [limit.reset, limit.window].compactMap { $0 }
                    return limit.remaining >= 0 && (limit.quota ?? 0) >= 0
                        && times.allSatisfy { (.zero...HttpHeader.longestRetryAfter).contains($0) }
                }
            if !isSane { Issue.record("\(fields): \(limits.map(Self.text))") }
        }
    }

    private static let signs = Array("\"\\:;,=()?@%-+*.09 \taz".utf8)

    /// The value with up to three bytes replaced or added, mostly by signs that mean something.
    private static func mutated(_ value: [UInt8], using generator: inout SeededGenerator) -> String {
        var value = value
        for _ in 0..<Int(generator.next() % 4) {
            let byte =
                generator.next() % 8 == 0
                ? UInt8(generator.next() % 256) : signs[Int(generator.next() % UInt64(signs.count))]
            let index = Int(generator.next() % UInt64(value.count + 1))
            if index < value.count, generator.next() % 2 == 0 {
                value[index] = byte
            } else {
                value.insert(byte, at: index)
            }
        }
        return String(decoding: value, as: UTF8.self)
    }
}
