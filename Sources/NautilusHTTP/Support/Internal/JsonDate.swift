import Foundation

/// A date in the format of RFC 3339, such as `2027-01-15T08:00:00.250+01:00`. APIs call it ISO 8601.
///
/// Nautilus has its own parser, since Foundation's accepts either no fraction of a second or three digits. Servers send
/// none, three, six or nine digits, often mixed in one document.
enum JsonDate {
    /// Reads a date; nil for any other text. A date without a time zone is refused, too, since it is not known which
    /// moment it means.
    static func date(_ text: String) -> Date? {
        var rest = text.utf8[...]
        guard let year = rest.takeNumber(4), rest.take("-"), let month = rest.takeNumber(2), rest.take("-"),
            let day = rest.takeNumber(2), rest.take("T") || rest.take("t") || rest.take(" "),
            let hour = rest.takeNumber(2), rest.take(":"), let minute = rest.takeNumber(2), rest.take(":"),
            let second = rest.takeNumber(2),
            (1...12).contains(month), day > 0, day <= HttpDate.length(ofMonth: month, year: year),
            hour < 24, minute < 60, second <= 60,  // 60: a leap second
            let fraction = rest.takeFraction(), let offset = rest.takeOffset(), rest.isEmpty
        else { return nil }
        let days = HttpDate.daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        // A `Double` with the seconds since 2001 is more precise than one with the seconds since 1970.
        return Date(timeIntervalSinceReferenceDate: Double(seconds - secondsTo2001) + fraction)
    }

    /// Writes a date, in UTC; nil if the year does not have four digits.
    ///
    /// - Parameter withFractions: Whether to write milliseconds, rounded; otherwise the time is rounded down to the
    ///   second.
    static func text(_ date: Date, withFractions: Bool) -> String? {
        let interval = date.timeIntervalSinceReferenceDate
        // The limit is far beyond the year 9999, and small enough that an `Int` cannot overflow.
        guard abs(interval) < 1e12 else { return nil }
        let milliseconds = Int((interval * 1000).rounded()) + secondsTo2001 * 1000
        let seconds = withFractions ? milliseconds.dividedDown(by: 1000) : Int(interval.rounded(.down)) + secondsTo2001
        let days = seconds.dividedDown(by: 86_400)
        let (year, month, day) = HttpDate.date(daysSince1970: days)
        guard (0...9999).contains(year) else { return nil }
        let time = seconds - days * 86_400
        var text = "\(year, digits: 4)-\(month, digits: 2)-\(day, digits: 2)"
        text += "T\(time / 3600, digits: 2):\(time / 60 % 60, digits: 2):\(time % 60, digits: 2)"
        if withFractions { text += ".\(milliseconds - seconds * 1000, digits: 3)" }
        return text + "Z"
    }

    private static let secondsTo2001 = 978_307_200
}

extension Substring.UTF8View {
    /// Removes `character` from the beginning; returns false if it is not there.
    fileprivate mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// Removes a number of exactly `digits` digits from the beginning; returns nil if there is none.
    fileprivate mutating func takeNumber(_ digits: Int) -> Int? {
        let word = prefix(digits)
        guard word.count == digits, word.allSatisfy(\.isDigit) else { return nil }
        removeFirst(digits)
        return word.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Removes a point or a comma with the digits after it; returns 0 if there is no point or comma, nil if there are
    /// no digits after it.
    fileprivate mutating func takeFraction() -> Double? {
        guard take(".") || take(",") else { return 0 }
        let digits = prefix(while: \.isDigit)
        guard !digits.isEmpty else { return nil }
        removeFirst(digits.count)
        // A `Date` cannot represent more digits.
        let exact = digits.prefix(15)
        let scale = exact.reduce(1.0) { scale, _ in scale * 10 }
        return Double(exact.reduce(0) { $0 * 10 + Int($1 - 0x30) }) / scale
    }

    /// Removes `Z`, or an offset from UTC such as `+01:00`; returns the offset in seconds, or nil if there is neither.
    fileprivate mutating func takeOffset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = takeNumber(2), hours < 24 else { return nil }
        _ = take(":")
        guard let minutes = isEmpty ? 0 : takeNumber(2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}

extension Int {
    /// The quotient, rounded down, also for negative numbers.
    fileprivate func dividedDown(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}

extension DefaultStringInterpolation {
    /// Appends a number with leading zeros.
    fileprivate mutating func appendInterpolation(_ number: Int, digits: Int) {
        let text = String(number)
        appendLiteral(String(repeating: "0", count: Swift.max(0, digits - text.count)) + text)
    }
}
