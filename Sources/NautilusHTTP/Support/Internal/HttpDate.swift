import Foundation

/// A moment as the header fields of HTTP give it (RFC 9110 §5.6.7), in seconds since 1970.
///
/// Parsed by hand, since a `DateFormatter` takes 50 µs.
package struct HttpDate: Hashable, Sendable {
    /// The moment, rounded down to a second.
    package let secondsSince1970: Int64
    /// The moment, rounded up to a second, for a wait that must not end early.
    let secondsRoundedUp: Int64

    private typealias Word = Substring.UTF8View

    private init(_ seconds: Int64, roundedUp: Int64? = nil) {
        (secondsSince1970, secondsRoundedUp) = (seconds, roundedUp ?? seconds)
    }

    /// Reads a date as robustly as RFC 9110 §5.6.7 encourages; nil for anything else, including a day that the month
    /// does not have, and a zone whose offset is not certain.
    ///
    /// Besides the three formats of HTTP, it reads the dates of the Internet Message Format (RFC 5322 §3.3, §4.3), of
    /// RFC 3339, and those that `date` and JavaScript print, names in any case. The blanks, the commas and the day of
    /// the week are ignored: servers get them wrong, and the moment is clear without them. A date without a zone is in
    /// GMT, as those of asctime are.
    ///
    /// - Parameter year: The current year, against which two-digit years are read.
    package init?(_ text: Substring, year: Int) {
        // The shortest date that is read is `6 Nov 94 8:49`, and no real one is as long as 96 characters.
        guard (13...96).contains(text.utf8.count) else { return nil }
        if let first = text.utf8.first, first.isDigit, let date = JsonDate.date(String(text)) {
            let seconds = date.timeIntervalSince1970
            self.init(Int64(seconds.rounded(.down)), roundedUp: Int64(seconds.rounded(.up)))
            return
        }
        var words = text.utf8.split { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") }
        // What follows the zone in parentheses is a comment: `+0000 (UTC)`.
        if let comment = words.firstIndex(where: { $0.first == UInt8(ascii: "(") }) { words.removeSubrange(comment...) }
        // `06-Nov-94`, also behind the day of the week.
        if let date = words.prefix(2).firstIndex(where: { $0.contains(UInt8(ascii: "-")) }) {
            words.replaceSubrange(date...date, with: words[date].split(separator: UInt8(ascii: "-")))
        }
        if let first = words.first?.first, !first.isDigit, Self.month(words[0]) == nil { words.removeFirst() }

        let time = words.firstIndex { $0.contains(UInt8(ascii: ":")) }
        guard (4...5).contains(words.count), let time else { return nil }
        let isMonthFirst = Self.month(words[0]) != nil
        let (day, month) = isMonthFirst ? (words[1], words[0]) : (words[0], words[1])
        switch (time, isMonthFirst) {
        // 06 Nov 1994 08:49:37 GMT, and Nov 06 1994 08:49:37 GMT, of JavaScript
        case (3, _):
            self.init(year: words[2], month: month, day: day, time: words[3], zone: words.dropFirst(4).first, now: year)
        // Nov  6 08:49:37 1994, of asctime, and Nov  6 08:49:37 UTC 1994, of the command `date`
        case (2, true):
            let zone = words.count == 5 ? words[3] : nil
            self.init(year: words[words.count - 1], month: month, day: day, time: words[2], zone: zone, now: year)
        default: return nil
        }
    }

    private init?(year: Word, month: Word, day: Word, time: Word, zone: Word?, now: Int) {
        guard let day = Self.number(day, digits: 1...2), let month = Self.month(month),
            let year = Self.fullYear(year, now: now), let offset = zone.map(Self.offset(of:)) ?? 0
        else { return nil }
        self.init(year: year, month: month, day: day, time: time, hourDigits: 1...2, needsSeconds: false, offset)
    }

    private init?(
        year: Int,
        month: Int,
        day: Int,
        time: Word,
        hourDigits: ClosedRange<Int> = 2...2,
        needsSeconds: Bool = true,
        _ offset: Int = 0
    ) {
        let clock = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard clock.count == 3 || clock.count == 2 && !needsSeconds,
            let hour = Self.number(clock[0], digits: hourDigits), let minute = Self.number(clock[1], digits: 2...2),
            let second = clock.count == 3 ? Self.number(clock[2], digits: 2...2) : 0,
            day > 0, day <= Self.length(ofMonth: month, year: year),
            hour < 24, minute < 60, second <= 60  // 60: a leap second
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        self.init(Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second - offset))
    }

    /// The month of a name, which may be cut to three letters or more.
    private static func month(_ word: Word) -> Int? {
        guard word.count >= 3 else { return nil }
        return months.firstIndex { $0.utf8.starts(with: word.lazy.map(\.asciiLowercased)) }.map { $0 + 1 }
    }

    /// The seconds by which a zone is ahead of GMT; nil for one that is not known.
    private static func offset(of zone: Word) -> Int? {
        var rest = zone
        let name = rest.prefix { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        rest = rest[name.endIndex...]
        if !name.isEmpty {
            guard let hours = zones[String(decoding: name.map(\.asciiLowercased), as: UTF8.self)] else { return nil }
            // `GMT+0100`, of JavaScript
            if rest.isEmpty { return hours * 3600 }
            guard hours == 0 else { return nil }
        }
        guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        let digits = rest.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard digits.count == 4, rest.count <= 6, digits.allSatisfy(\.isDigit) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard number <= 1500, number % 100 < 60 else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return sign == UInt8(ascii: "+") ? seconds : -seconds
    }

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    /// The names of zones whose offset is certain (RFC 5322 §4.3), in hours.
    private static let zones = [
        "gmt": 0, "utc": 0, "ut": 0, "z": 0,
        "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    ]

    private static func number(_ word: Word, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(word.count), word.allSatisfy(\.isDigit) else { return nil }
        return word.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func fullYear(_ text: Word, now: Int) -> Int? {
        if let year = number(text, digits: 4...4) { return year }
        guard let short = number(text, digits: 2...2) else { return nil }
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

extension HttpDate {
    /// Reads a date in exactly one of the three formats of RFC 9110 §5.6.7, for a field that restricts its dates.
    ///
    /// Names may be in any case, as RFC 9111 §4.2 has it for `Expires`. Nil for anything else: another zone, a year of
    /// two digits outside of RFC 850's format, a missing comma, one blank too many.
    ///
    /// - Parameter year: The current year, against which the two-digit years of RFC 850 are read.
    package init?(exactly text: Substring, year now: Int) {
        // The longest has 33 characters: `Wednesday, 09-Nov-94 08:49:37 GMT`.
        guard text.utf8.count <= 33 else { return nil }
        let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false).map { Substring($0).utf8 }
        func isDay(_ names: [String], _ end: String) -> Bool {
            names.contains { words[0].elementsEqual(($0 + end).utf8) }
        }
        func isGmt(_ word: Word) -> Bool { word.elementsEqual("gmt".utf8) }

        let (year, month, day, time): (Int?, Word, Word, Word)
        switch words.count {
        case 4 where isDay(Self.weekdays, ",") && isGmt(words[3]):  // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard date.count == 3, date[2].count == 2 else { return nil }
            (year, month, day, time) = (Self.fullYear(date[2], now: now), date[1], date[0], words[2])
        case 6 where isDay(Self.shortWeekdays, ",") && isGmt(words[5]):  // Sun, 06 Nov 1994 08:49:37 GMT
            (year, month, day, time) = (Self.number(words[3], digits: 4...4), words[2], words[1], words[4])
        // Sun Nov 16 08:49:37 1994, and Sun Nov  6 08:49:37 1994
        case 5 where isDay(Self.shortWeekdays, "") && words[2].count == 2,
            6 where isDay(Self.shortWeekdays, "") && words[2].isEmpty && words[3].count == 1:
            let rest = words.suffix(3)
            (month, day, time) = (words[1], rest[rest.startIndex], rest[rest.startIndex + 1])
            year = Self.number(rest[rest.startIndex + 2], digits: 4...4)
        default: return nil
        }
        guard let year, month.count == 3, let month = Self.month(month),
            words.count == 6 && words[2].isEmpty || day.count == 2, let day = Self.number(day, digits: 1...2)
        else { return nil }
        self.init(year: year, month: month, day: day, time: time)
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let shortWeekdays = weekdays.map { String($0.prefix(3)) }
}

extension Date {
    /// The seconds from 1970 to the end of the year 9999, the dates that can be written in a header.
    package static var writableSeconds: Range<Double> { 0..<253_402_300_800 }

    /// The whole seconds since 1970; 0 for a date outside of this range, from a clock that is not set.
    package var clockSeconds: Int64 {
        Self.writableSeconds.contains(timeIntervalSince1970) ? Int64(timeIntervalSince1970) : 0
    }
}
