import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Freshness: the age of RFC 9111 §4.2.3")
struct FreshnessTests {
    @Test(
        "the age is the larger of what the dates and what the caches say, and the time since",
        arguments: [
            // Date, Age, requested, received, now → age
            (0, nil, 0, 0, 0, 0), (0, nil, 0, 0, 7, 7), (-10, nil, 0, 0, 7, 17), (nil, nil, 0, 0, 7, 7),
            (0, "5", 0, 0, 7, 12), (-10, "5", 0, 0, 0, 10), (-5, "10", 0, 0, 0, 10), (0, "5, 9", 0, 0, 0, 5),
            (0, "old", 0, 0, 0, 0), (0, "-5", 0, 0, 0, 0), (0, "1.5", 0, 0, 0, 0),
            // The answer was on its way for 3 s: that counts for the caches' word (corrected_age_value).
            (0, "5", 0, 3, 3, 8), (3, "0", 0, 3, 4, 4), (3, nil, 0, 3, 4, 4),
            // The server's clock is ahead.
            (100, nil, 0, 0, 7, 7),
            // This clock was set back meanwhile, by a second or between the request and its answer.
            (0, nil, 0, 0, -1, 2_147_483_648), (0, nil, 5, 0, 0, 0),
            (0, "99999999999999999999", 0, 0, 1, 2_147_483_649),
        ] as [(Int64?, String?, Int64, Int64, Int64, Int64)]
    )
    func age(date: Int64?, ageField: String?, requested: Int64, received: Int64, now: Int64, age: Int64) {
        var header: HttpHeader = [:]
        header[.date] = date.map(httpDate)
        header["Age"] = ageField
        let stored = StoredResponse.test(header, requestedAt: requested, receivedAt: received)
        #expect(Freshness(stored, now: CacheWorld.start + now, heuristicCap: 0).age == age)
    }

    @Test(
        "the lifetime is what max-age says, else what Expires says, else a tenth of the time without a change",
        arguments: [
            (["Cache-Control": "max-age=60", "Expires": httpDate(10)], 200, 60),
            (["Expires": httpDate(10)], 200, 10), (["Expires": httpDate(10), "Date": httpDate(4)], 200, 6),
            (["Expires": httpDate(-10)], 200, 0), (["Expires": "never"], 200, 0),
            (["Expires": "-1", "Last-Modified": httpDate(-1_000)], 200, 0),
            (["Last-Modified": httpDate(-1_000)], 200, 100), (["Last-Modified": httpDate(-1_000)], 404, 100),
            (["Last-Modified": httpDate(-1_000), "Date": httpDate(-500)], 200, 50),
            (["Last-Modified": httpDate(1_000)], 200, 0), (["Last-Modified": httpDate(-100_000)], 200, 3_600),
            (["Last-Modified": httpDate(-1_000)], 403, 0), (["Last-Modified": httpDate(-1_000)], 500, 0),
            (["Last-Modified": httpDate(-1_000), "Cache-Control": "public"], 403, 100), ([:], 200, 0),
        ] as [(HttpHeader, Int, Int64)]
    )
    func lifetime(header: HttpHeader, status: Int, lifetime: Int64) {
        let stored = StoredResponse.test(header, status: status)
        #expect(Freshness(stored, now: CacheWorld.start, heuristicCap: 3_600).lifetime == lifetime)
    }

    @Test(
        "F6: Date and Last-Modified are read as servers write them; Expires is exactly a date, or has expired",
        arguments: [
            (["Last-Modified": "Sun, 06 Nov 1994 08:32:57 +0000"], 100),
            (["Last-Modified": "Sun, 6-nov-94 08:32:57"], 100),
            (["Last-Modified": "1994-11-06T08:32:57Z", "Date": "Sun, 06 Nov 1994 08:41:17 -0000"], 50),
            (["Expires": "sun, 06 NOV 1994 08:49:47 gmt"], 10), (["Expires": "Sunday, 06-Nov-94 08:49:47 GMT"], 10),
            (["Expires": "Sun Nov  6 08:49:47 1994"], 10), (["Expires": " Sun, 06 Nov 1994 08:49:47 GMT "], 10),
            (["Expires": "Sun, 06 Nov 1994 08:49:47 GMT", "Date": "Sun, 06 Nov 1994 08:49:43 +0000"], 4),
            (["Expires": "Sun, 06 Nov 1994 08:49:47 +0000"], 0), (["Expires": "Sun, 06 Nov 1994 08:49:47 UTC"], 0),
            (["Expires": "Sun, 06 Nov 94 08:49:47 GMT"], 0), (["Expires": "Sun 06 Nov 1994 08:49:47 GMT"], 0),
            (["Expires": "Thu, 18-Aug-2050 02:01:18 GMT"], 0),
            (["Expires": "Thu, 18-Aug-2050 02:01:18 GMT", "Last-Modified": "Sun, 06 Nov 1994 08:32:57 GMT"], 0),
        ] as [(HttpHeader, Int64)]
    )
    func dates(header: HttpHeader, lifetime: Int64) {
        let stored = StoredResponse.test(header)
        #expect(Freshness(stored, now: CacheWorld.start, heuristicCap: 3_600).lifetime == lifetime)
    }

    @Test("dates and times of any kind overflow nothing", arguments: [Int64.min, -1, 0, Int64.max])
    func extremes(time: Int64) {
        let header: HttpHeader = ["Date": "Fri, 31 Dec 9999 23:59:59 GMT", "Expires": "Thu, 01 Jan 0001 00:00:00 GMT"]
        for other in [Int64.min, 0, Int64.max] {
            let stored = StoredResponse(
                status: 200,
                header: header,
                body: Data(),
                selectors: VarySelectors([:]),
                requestTime: other,
                responseTime: time
            )
            for now in [Int64.min, 0, Int64.max] {
                let freshness = Freshness(stored, now: now, heuristicCap: .max)
                #expect(freshness.age >= 0 && freshness.lifetime == 0)
            }
        }
    }
}
