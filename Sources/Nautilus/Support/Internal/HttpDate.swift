import Foundation

/// A moment in one of the three formats of RFC 9110 §5.6.7, in seconds since 1970.
///
/// Parsed by hand, since a `DateFormatter` takes 50 µs and accepts more than the grammar.
package struct HttpDate: Hashable, Sendable {
    package let secondsSince1970: Int64

    private typealias Word = Substring.UTF8View

    /// Reads any of the formats; nil for anything else, including a day that the month does not have.
    ///
    /// The number of blanks, commas and hyphens and the day of the week are ignored: servers get them wrong, and the
    /// moment is clear without them.
    ///
    /// - Parameter year: The current year, against which the two-digit years of RFC 850 are read.
    package init?(_ text: Substring, year: Int) {
        // The longest valid date has 33 characters, and the shortest text read as one 19: `S Nov 6 08:49:37 94`.
        guard (19...64).contains(text.utf8.count) else { return nil }
        let words = text.utf8.split { $0 == 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
        switch words.count {
        // Sun Nov  6 08:49:37 1994, asctime
        case 5: self.init(year: words[4], month: words[1], day: words[2], time: words[3], zone: nil, now: year)
        // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
        case 6: self.init(year: words[3], month: words[2], day: words[1], time: words[4], zone: words[5], now: year)
        default: return nil
        }
    }

    private init?(year: Word, month: Word, day: Word, time: Word, zone: Word?, now: Int) {
        let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { Self.number($0, digits: 2) }
        guard zone.map({ $0.elementsEqual("GMT".utf8) || $0.elementsEqual("UTC".utf8) }) ?? true,
            let month = Self.months.firstIndex(where: { month.elementsEqual($0.utf8) }).map({ $0 + 1 }),
            let day = Self.number(day, digits: day.count == 1 ? 1 : 2), day > 0,
            let year = Self.fullYear(year, now: now),
            clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            hour < 24, minute < 60, second <= 60,  // 60: a leap second
            day <= Self.length(ofMonth: month, year: year)
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        self.secondsSince1970 = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ word: Word, digits: Int) -> Int? {
        guard word.count == digits, word.allSatisfy(\.isDigit) else { return nil }
        return word.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func fullYear(_ text: Word, now: Int) -> Int? {
        if let year = number(text, digits: 4) { return year }
        guard let short = number(text, digits: 2) else { return nil }
        // RFC 9110: a two-digit year that seems more than 50 years ahead is a year in the past.
        let year = now - now % 100 + short
        if year > now + 50 { return year - 100 }
        return year <= now - 50 ? year + 100 : year
    }

    static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
    /// Howard Hinnant's civil_from_days, from the same work.
    static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400
        return (month < 10 ? year : year + 1, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}

extension Date {
    /// The seconds from 1970 to the end of the year 9999, the dates that can be written in a header.
    package static var writableSeconds: Range<Double> { 0..<253_402_300_800 }

    /// The whole seconds since 1970; 0 for a date outside of this range, from a clock that is not set.
    package var clockSeconds: Int64 {
        Self.writableSeconds.contains(timeIntervalSince1970) ? Int64(timeIntervalSince1970) : 0
    }
}
