import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private static func hint(_ values: String..., date: String? = nil) -> Duration? {
        var header: HttpHeader = [:]
        header[.date] = date
        for value in values { header.add(value, to: "retry-after") }
        return header.retryAfter(now: now)
    }

    @Test(
        "A6, A8: seconds are taken as they are, blanks around them aside",
        arguments: [
            ("0", .zero), ("2", .seconds(2)), ("120", .seconds(120)), ("007", .seconds(7)), (" 2", .seconds(2)),
            ("2\t ", .seconds(2)), ("4294967295", HttpHeader.longestRetryAfter),
            ("4294967294", .seconds(4_294_967_294)),
        ] as [(String, Duration)]
    )
    func seconds(value: String, expected: Duration) {
        #expect(Self.hint(value) == expected)
    }

    @Test(
        "A7: a date, in any format, counts from the response's own Date, here one hour ahead",
        arguments: [
            "Sun, 06 Nov 1994 09:49:40 GMT", "Sunday, 06-Nov-94 09:49:40 GMT", "Sun Nov  6 09:49:40 1994",
            " Sun, 06 Nov 1994 09:49:40 GMT\t",
        ]
    )
    func date(value: String) {
        #expect(Self.hint(value, date: "Sun, 06 Nov 1994 09:49:37 GMT") == .seconds(3))
        #expect(Self.hint(value, date: "Sunday, 06-Nov-94 09:49:37 GMT") == .seconds(3))
    }

    @Test("A7: without a Date that can be read, a date counts from now", arguments: [nil, "", "abc", "0"])
    func dateWithoutDate(date: String?) {
        #expect(Self.hint("Sun, 06 Nov 1994 08:49:40 GMT", date: date) == .seconds(3))
    }

    @Test(
        "A8: a date in the past is zero",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
            "Sat, 01 Jan 0000 00:00:00 GMT",
        ]
    )
    func past(value: String) {
        #expect(Self.hint(value) == .zero)
    }

    @Test(
        "A9: an invalid Retry-After counts as none",
        arguments: [
            "-1", "+1", "abc", "1.", ".5", "1.5.0", "1.5s", "-0.5", "1e3", "1.5e3", "0x10", "", " ", "\t",
            "1 2", ",", "abc, 1s", "1s", "٣", "２", "1\u{0}",
            "\r\n",
            "1\u{301}", "Sun, 30 Feb 1994 08:49:37 GMT", "NaN", "inf", "∞", "-99999999999999999999",
        ]
    )
    func invalid(value: String) {
        #expect(Self.hint(value) == nil)
    }

    @Test(
        "A9, F6: a fraction is rounded up, so that no retry comes early",
        arguments: [
            ("2.0", 2), ("0.5", 1), ("0.0", 0), ("1.5", 2), ("1.000", 1), ("1.0000000000000000000001", 2), (" 2.5 ", 3),
            ("0.5, 0.1", 1),
        ] as [(String, Int64)]
    )
    func fractions(value: String, expected: Int64) {
        #expect(Self.hint(value) == .seconds(expected))
    }

    @Test(
        "F6: a date is read whatever its zone, in Retry-After and in Date alike",
        arguments: [
            "Sun, 06 Nov 1994 08:50:37 +0000", "Sun, 06 Nov 1994 09:50:37 +0100", "Sun, 06 Nov 1994 08:50:37 UTC",
            "1994-11-06T08:50:37Z", "1994-11-06T08:50:36.5Z",
        ]
    )
    func zones(value: String) {
        #expect(Self.hint(value, date: "Sun, 06 Nov 1994 08:49:37 GMT") == .seconds(60))
        #expect(Self.hint(value, date: "Sun, 06 Nov 1994 08:49:37 -0000") == .seconds(60))
        #expect(Self.hint(value + ", 5") == .seconds(60))
    }

    @Test(
        "F8: vendors' milliseconds count like Retry-After, and the longest of all counts",
        arguments: [
            (["retry-after-ms": "250"], 250), (["x-ms-retry-after-ms": "250"], 250),
            (["x-amz-retry-after": "250"], 250),
            (["Retry-After-Ms": "1.2"], 2), (["retry-after-ms": "10, 30"], 30),
            (["Retry-After": "1", "retry-after-ms": "250"], 1_000),
            (["Retry-After": "1", "retry-after-ms": "1250"], 1_250),
            (["Retry-After": "soon", "x-amz-retry-after": "7"], 7),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:38 GMT", "x-ms-retry-after-ms": "7"], 1_000),
            (["retry-after-ms": "-1"], nil), (["retry-after-ms": "soon"], nil), (["retry-after-ms": ""], nil),
            (["retry-after-ms": "Sun, 06 Nov 1994 08:49:38 GMT"], nil), (["x-retry-after-ms": "5"], nil),
        ] as [(HttpHeader, Int64?)]
    )
    func milliseconds(header: HttpHeader, expected: Int64?) {
        #expect(header.retryAfter(now: Self.now) == expected.map { .milliseconds($0) })
    }

    @Test("F8: milliseconds too many to be meant are the longest hint")
    func hugeMilliseconds() {
        let header: HttpHeader = ["retry-after-ms": "99999999999999999999"]
        #expect(header.retryAfter(now: Self.now) == HttpHeader.longestRetryAfter)
    }

    @Test(
        "A9: a number too large to be meant is the longest hint",
        arguments: [
            "99999999999999999999", "9223372036854775807", "9223372036854775808", "4294967296",
            "Fri, 31 Dec 9999 23:59:59 GMT",
        ]
    )
    func huge(value: String) {
        #expect(Self.hint(value) == HttpHeader.longestRetryAfter)
    }

    @Test("A9: a megabyte of it is read like a few bytes")
    func long() {
        let million = 1_000_000
        #expect(Self.hint(String(repeating: "9", count: million)) == HttpHeader.longestRetryAfter)
        #expect(Self.hint(String(repeating: "0", count: million) + "2") == .seconds(2))
        #expect(Self.hint(String(repeating: "x", count: million)) == nil)
        #expect(Self.hint(String(repeating: "Sun, ", count: million / 5)) == nil)
        #expect(Self.hint(String(repeating: " ", count: million) + "2") == .seconds(2))
        #expect(Self.hint(String(repeating: "1, ", count: million / 3) + "2") == .seconds(2))
    }

    @Test("the longest valid Retry-After of several counts, so that no retry comes early")
    func several() {
        #expect(Self.hint("2", "5", "3") == .seconds(5))
        #expect(Self.hint("abc", "5") == .seconds(5))
        #expect(Self.hint("2", "Sun, 06 Nov 1994 08:49:40 GMT") == .seconds(3))
        #expect(Self.hint("abc", "") == nil)
        #expect(Self.hint() == nil)
    }

    @Test(
        "C23: of several fields that were joined into one the longest counts, whatever their form",
        arguments: [
            ("5, 10", 10), ("1, 7", 7), ("10, 5", 10), ("2,5", 5), (" ,, 5 , ", 5), ("abc, 5", 5), ("5, abc", 5),
            ("-1, 5", 5), ("0, 0", 0),
            ("5, Sun, 06 Nov 1994 08:49:40 GMT", 5), ("Sun, 06 Nov 1994 08:49:47 GMT, 5", 10),
            ("Sun, 06 Nov 1994 08:49:40 GMT, Sunday, 06-Nov-94 08:49:57 GMT", 20),
            ("Sunday, 06-Nov-94 08:49:57 GMT, Sun Nov  6 08:49:40 1994", 20),
            ("Sun Nov  6 08:49:57 1994, Sun, 06 Nov 1994 08:49:40 GMT, 7", 20),
            ("Sun,06 Nov 1994 08:49:57 GMT,7", 20), ("Sun 06 Nov 1994 08:49:57 GMT, 7", 20),
            ("Sun, 30 Feb 1994 08:49:37 GMT, 4", 4), ("4, Sun, 06 Nov", 4), ("4, Sun", 4), ("Sun, 4", 4),
            ("Sun, Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ] as [(String, Int64)]
    )
    func joined(value: String, expected: Int64) {
        #expect(Self.hint(value) == .seconds(expected))
        // As soon as there are two fields, a transport may join them, and may not.
        #expect(Self.hint(value, "0") == .seconds(expected))
    }

    @Test("the earliest of two Date fields counts, so that no retry comes early")
    func joinedDates() {
        let retry = "Sun, 06 Nov 1994 09:49:40 GMT"
        for date in [
            "Sun, 06 Nov 1994 09:49:38 GMT, Sun, 06 Nov 1994 09:49:37 GMT",
            "Sunday, 06-Nov-94 09:49:37 GMT, Sun Nov  6 09:49:38 1994",
        ] {
            #expect(Self.hint(retry, date: date) == .seconds(3))
        }
    }

    @Test(
        "a clock that is out of its mind does not trap",
        arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300]
    )
    func clock(seconds: Double) {
        let header: HttpHeader = ["Retry-After": "Sunday, 06-Nov-94 08:49:40 GMT"]
        #expect(header.retryAfter(now: Date(timeIntervalSince1970: seconds)) != nil)
    }

    @Test("a part of a second never makes the wait shorter")
    func fraction() {
        let header: HttpHeader = ["Retry-After": "Sun, 06 Nov 1994 08:49:40 GMT"]
        #expect(header.retryAfter(now: Self.now.addingTimeInterval(0.9)) == .seconds(3))
    }

    @Test("20 000 mutated values never trap, and are never negative")
    func fuzz() throws {
        let seeds = ["120", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"]
        var generator = SeededGenerator(seed: 9)
        for _ in 1...20_000 {
            let value = (seeds.randomElement(using: &generator) ?? "").mutated(using: &generator)
            let date = (seeds.randomElement(using: &generator) ?? "").mutated(using: &generator)
            guard let hint = Self.hint(value, date: date) else { continue }
            try #require((.zero...HttpHeader.longestRetryAfter).contains(hint), "\(value.debugDescription)")
        }
    }
}
