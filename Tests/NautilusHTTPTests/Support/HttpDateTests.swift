import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpDate")
struct HttpDateTests {
    private static func seconds(_ text: String, year: Int = 2026) -> Int64? {
        HttpDate(text[...], year: year)?.secondsSince1970
    }

    @Test(
        "known moments are read in all three formats (RFC 9110 §5.6.7)",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thursday, 01-Jan-70 00:00:00 GMT", 3_155_760_000),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Tue, 19 Jan 2038 03:14:07 GMT", 2_147_483_647),
            ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Sun, 06 Nov 1994 08:49:37 UTC", 784_111_777),
            ("Sun, 6 Nov 1994 08:49:37 GMT", 784_111_777),
        ]
    )
    func known(text: String, seconds: Int) {
        #expect(Self.seconds(text) == Int64(seconds))
    }

    @Test(
        "a text that is no date is nil, days that the month does not have included",
        arguments: [
            "", " ", "abc", "0", "Sun", "Sun, 06 Nov 1994", "08:49:37", "1994-11-06T08:49:37",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT",
            "Fri, 30 Feb 2024 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Mon, 29 Feb 2100 00:00:00 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 No 1994 08:49:37 GMT", "Sun, 06 11 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 008:49:37 GMT", "Sun, 06 Nov 1994 08:9:37 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT",
            "Sun, 06 Nov 1994 08::37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 +00",
            "Sun, 06 Nov 1994 08:49:37 GMTX", "Sun, 06 Nov 1994 08:49:37 PM", "Sun, 06 Nov 194 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 +9900", "Sun, 06 Nov 1994 08:49:37 +0060", "Sun, 06 Nov 1994 08:49:37 CET+0100",
            "Sun, 06 Nov 1994 08:49:37 PST+0100", "Sun, 06 November! 1994 08:49:37 GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 06 Nov +994 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
            "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun Nov  6 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: " ", count: 100),
        ]
    )
    func invalid(text: String) {
        #expect(Self.seconds(text) == nil)
    }

    @Test(
        "F6: other dates of real servers are read, names in any case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 08:49:37 +00:00",
            "Sun, 06 Nov 1994 08:49:37 Z", "Sun, 06 Nov 1994 08:49:37 UT", "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37 +0000 (UTC)", "Sun, 06 Nov 1994 09:49:37 +0100", "Sun, 06 Nov 1994 03:49:37 EST",
            "SUN, 06 NOV 1994 08:49:37 GMT", "sun, 06 november 1994 08:49:37 utc", "Sun, 06 Nov 1994 08:49:37",
            "06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 94 8:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
            "Sun 06-Nov-1994 08:49:37 +0000", "06-Nov-94 08:49:37 GMT", "Sun Nov 06 08:49:37 UTC 1994",
            "Sun Nov  6 08:49:37 +0000 1994", "Nov  6 08:49:37 1994",
            "Sun Nov 06 1994 09:49:37 GMT+0100 (Central European Standard Time)", "Sun Nov 06 1994 08:49:37",
            "1994-11-06T08:49:37Z", "1994-11-06 08:49:37+00:00", "1994-11-06T09:49:37+01:00",
            "1994-11-06T08:49:37.000Z",
        ]
    )
    func robust(text: String) {
        #expect(Self.seconds(text) == 784_111_777)
    }

    @Test("F6: seconds that are missing are zero, and a part of a second is kept apart from those rounded up")
    func parts() {
        #expect(Self.seconds("Sun, 06 Nov 1994 08:49 GMT") == 784_111_740)
        let date = HttpDate("1994-11-06T08:49:37.25Z", year: 2026)
        #expect(date?.secondsSince1970 == 784_111_777)
        #expect(date?.secondsRoundedUp == 784_111_778)
    }

    @Test(
        "F6: a field that restricts its dates takes the three formats, names in any case",
        arguments: [
            ("Thu, 18 Aug 2050 02:01:18 GMT", true), ("thu, 18 AUG 2050 02:01:18 gMT", true),
            ("Thursday, 18-Aug-50 02:01:18 GMT", true), ("THURSDAY, 18-aug-50 02:01:18 Gmt", true),
            ("Thu Aug 18 02:01:18 2050", true), ("Mon Aug  8 02:01:18 2050", true),
            ("Xxx, 18 Aug 2050 02:01:18 GMT", false), ("Thu, 18 Aug 2050 02:01:18 UTC", false),
            ("Thu, 18 Aug 2050 02:01:18 +0000", false), ("Thu, 18 Aug 2050 02:01:18 AEST", false),
            ("Thu, 18 Aug 2050 02:01:18", false), ("Thu, 18 Aug 2050 02:01:18 ", false),
            ("Thu, 18 Aug 50 02:01:18 GMT", false), ("Thu 18 Aug 2050 02:01:18 GMT", false),
            ("Thu, 18-Aug-2050 02:01:18 GMT", false), ("Thu, 18-Aug-50 02:01:18 GMT", false),
            ("Thursday, 18-Aug-2050 02:01:18 GMT", false), ("Thursday, 18 Aug 2050 02:01:18 GMT", false),
            ("Thu, 18 August 2050 02:01:18 GMT", false), ("18 Aug 2050 02:01:18 GMT", false),
            ("Thu, 18 Aug 2050 2:01:18 GMT", false), ("Thu, 18 Aug 2050 02:01 GMT", false),
            ("Thu, 18  Aug  2050  02:01:18  GMT", false), ("Thu, 18 Aug 2050 02.01.18 GMT", false),
            ("Thu, 8 Aug 2050 02:01:18 GMT", false), ("Mon Aug 8 02:01:18 2050", false),
            ("Thu Aug 18 02:01:18 50", false), ("Thu Aug 18 02:01:18 GMT 2050", false),
            ("Thu, 31 Nov 2050 02:01:18 GMT", false), ("2050-08-18T02:01:18Z", false), ("0", false), ("", false),
        ]
    )
    func exact(text: String, isRead: Bool) {
        let date = HttpDate(exactly: text[...], year: 2026)
        #expect((date != nil) == isRead)
        if let date { #expect(date == HttpDate(text[...], year: 2026)) }
    }

    @Test(
        "a two-digit year is at most 50 years ahead, and less than 50 years ago",
        arguments: [
            (26, 2026, 2026), (76, 2026, 2076), (77, 2026, 1977), (94, 2026, 1994), (0, 2026, 2000), (99, 2026, 1999),
            (0, 1999, 2000), (49, 1999, 2049), (50, 1999, 1950), (5, 2090, 2105), (40, 2090, 2140), (41, 2090, 2041),
        ]
    )
    func twoDigits(short: Int, now: Int, year: Int) {
        let text = String(100 + short).dropFirst()
        #expect(
            Self.seconds("Friday, 01-Jan-\(text) 00:00:00 GMT", year: now)
                == Self.seconds("Fri, 01 Jan \(year) 00:00:00 GMT")
        )
    }

    @Test("months follow one another through the 400 years after which the calendar repeats")
    func consecutive() throws {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let start = try #require(Self.seconds("Sat, 01 Jan 1800 00:00:00 GMT"))
        var expected = start
        for year in 1800..<2200 {
            for month in months {
                try #require(Self.seconds("Xxx, 1 \(month) \(year) 00:00:00 GMT") == expected)
                // The days that the month has, and no others, are read.
                let last =
                    (28...31).filter { Self.seconds("Xxx, \($0) \(month) \(year) 00:00:00 GMT") != nil }.count + 27
                expected += Int64(last) * 86_400
                try #require(Self.seconds("Xxx, \(last) \(month) \(year) 23:59:59 GMT") == expected - 1)
            }
        }
        #expect(expected - start == 146_097 * 86_400)
    }

    @Test("mutated dates never trap, and those that are read are within the calendar")
    func fuzz() throws {
        let seeds = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        let range = try #require(Self.seconds("Sat, 01 Jan 0000 00:00:00 GMT"))...253_402_300_800
        var generator = SeededGenerator(seed: 7)
        var readCount = 0
        let count = trials(20_000)
        for _ in 1...count {
            let text = (seeds.randomElement(using: &generator) ?? "").mutated(using: &generator)
            guard let date = HttpDate(text[...], year: Int.random(in: 1970...2200, using: &generator)) else { continue }
            readCount += 1
            try #require(range.contains(date.secondsSince1970), "\(text.debugDescription)")
        }
        #expect(readCount > count / 100)
    }
}

extension String {
    /// The text with one to four bytes removed, doubled or replaced.
    func mutated(using generator: inout SeededGenerator) -> String {
        var bytes = Array(utf8)
        for _ in 1...Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0...3, using: &generator) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(bytes[index], at: index)
            case 2: bytes[index] = UInt8.random(in: 0x30...0x39, using: &generator)
            default: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
