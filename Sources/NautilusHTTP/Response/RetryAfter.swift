import Foundation

extension HttpHeader {
    /// The time that the server asks to wait; nil if there is no valid value.
    ///
    /// `Retry-After` gives it in seconds or as a date (RFC 9110 §10.2.3); `retry-after-ms`, `x-ms-retry-after-ms` and
    /// `x-amz-retry-after`, of OpenAI, Azure and AWS, give milliseconds. A fraction is rounded up. A date is measured
    /// against the response's own `Date`, so that a server with a wrong clock is still understood; a date in the past
    /// is zero. An absurdly large number still means to stay away, and becomes 2³² - 1 s. Of several values
    /// the longest counts, so that no retry comes early, even if they have been joined into one field (`5, 10`), as URL
    /// loading does. A service names a further field with ``HttpService/retryAfterField``.
    ///
    /// - Parameter now: The time used if there is no `Date`.
    public func retryAfter(now: @autoclosure () -> Date = DefaultClock.date) -> Duration? {
        var longest = milliseconds(of: RetryAfterField.milliseconds)
        let lines = values(of: .retryAfter)
        if !lines.isEmpty {
            let sent = ResponseTime(self, now: now())
            let hints = lines.lazy.flatMap { JoinedValues($0, year: sent.year) }.compactMap { value -> Int64? in
                switch value {
                case .date(let date): sent.seconds(until: date)
                case .text(let text): text.roundedUpNumber
                }
            }
            longest = [longest, hints.max().map { .seconds($0) }].compactMap(\.self).max()
        }
        return longest.map { min($0, Self.longestRetryAfter) }
    }

    /// The longest time in any of the fields, in milliseconds or seconds; nil if there is no valid number.
    private func milliseconds(of names: [Name]) -> Duration? {
        numbers(of: names).max().map { .milliseconds($0) }
    }

    private func numbers(of names: [Name]) -> [Int64] {
        fields.lazy.filter { names.contains($0.name) }.flatMap { field in
            field.value.split(separator: ",").compactMap { $0.trimmingBlanks.roundedUpNumber }
        }
    }

    /// Adds what a service's own field says as `retry-after-ms`, so that everything that looks for a hint finds it.
    package mutating func translateHint(of field: RetryAfterField) {
        guard let number = numbers(of: [field.name]).max() else { return }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: field.unit == .seconds ? 1000 : 1)
        add(String(overflow ? .max : milliseconds), to: RetryAfterField.standardMilliseconds)
    }

    /// Adds a time to wait, rounded up to whole milliseconds.
    mutating func addRetryAfter(_ wait: Duration) {
        let milliseconds = Int64((min(wait, Self.longestRetryAfter) / .milliseconds(1)).rounded(.up))
        add(String(milliseconds), to: RetryAfterField.standardMilliseconds)
    }

    /// The longest time that is read from `Retry-After`, about 136 years, far below what overflows a `Duration`.
    package static let longestRetryAfter = Duration.seconds(Int64(UInt32.max))
}

/// A header field of one service that says how long to wait, besides those that ``HttpHeader/retryAfter(now:)`` knows.
///
/// ```swift
/// var retryAfterField: RetryAfterField? { RetryAfterField("X-Backoff", in: .seconds) }
/// ```
/// Its value is a number, which may have a fraction; any other value says nothing.
public struct RetryAfterField: Hashable, Sendable {
    /// The unit of the number.
    public enum Unit: Hashable, Sendable {
        /// Seconds.
        case seconds
        /// Thousandths of a second.
        case milliseconds
    }

    /// The field's name, in any case.
    public let name: HttpHeader.Name
    /// The unit of its number.
    public let unit: Unit

    /// Creates the description of a field.
    public init(_ name: HttpHeader.Name, in unit: Unit) {
        (self.name, self.unit) = (name, unit)
    }

    fileprivate static let standardMilliseconds: HttpHeader.Name = "retry-after-ms"
    /// The fields that vendors count in milliseconds.
    fileprivate static let milliseconds: [HttpHeader.Name] = [
        standardMilliseconds, "x-ms-retry-after-ms", "x-amz-retry-after",
    ]
}

extension Substring {
    /// The number that the text is, rounded up; nil unless it is digits, or digits, a point and digits. A number with
    /// too many digits becomes the largest possible.
    fileprivate var roundedUpNumber: Int64? {
        let whole = utf8.prefix(while: \.isDigit)
        let rest = utf8[whole.endIndex...]
        guard !whole.isEmpty else { return nil }
        let number = Int64(Substring(whole)) ?? .max
        if rest.isEmpty { return number }
        let fraction = rest.dropFirst()
        guard rest.first == UInt8(ascii: "."), !fraction.isEmpty, fraction.allSatisfy(\.isDigit) else { return nil }
        let isWhole = fraction.allSatisfy { $0 == UInt8(ascii: "0") }
        return isWhole || number == .max ? number : number + 1
    }
}

/// The values of a field, one after the other, even if several lines have been joined by commas (RFC 9110 §5.3)
/// although the field is not a list.
///
/// URL loading joins fields that come twice, for instance from a gateway and the server behind it. A comma within a
/// date does not separate values.
package struct JoinedValues: Sequence, IteratorProtocol {
    /// One value.
    package enum Value {
        case date(HttpDate)
        /// Anything else, without the blanks around it; never empty.
        case text(Substring)

        /// The date; nil if the value is not a date.
        var date: HttpDate? {
            if case .date(let date) = self { date } else { nil }
        }
    }

    private var rest: Substring.UTF8View
    private let year: Int

    /// - Parameters:
    ///   - line: The field's value.
    ///   - year: The current year, against which the two-digit years of dates are read.
    package init(_ line: String, year: Int) {
        self.rest = line[...].utf8
        self.year = year
    }

    package mutating func next() -> Value? {
        while let comma = rest.indexOfComma {
            let piece = rest[..<comma]
            if piece.isEmpty {
                rest = rest[comma...].dropFirst()
                continue
            }
            // `Sun, 06 Nov 1994 08:49:37 GMT`: after the weekday's comma, the date goes on.
            let mayGoOn = comma < rest.endIndex && !piece.contains(where: \.isDigit)
            let end = mayGoOn ? rest[rest.index(after: comma)...].indexOfComma : nil
            let whole = rest
            rest = rest[comma...].dropFirst()

            if let date = HttpDate(Substring(piece).trimmingBlanks, year: year) { return .date(date) }
            if let end, let date = HttpDate(Substring(whole[..<end]).trimmingBlanks, year: year) {
                rest = whole[end...].dropFirst()
                return .date(date)
            }
            let text = Substring(piece).trimmingBlanks
            if !text.isEmpty { return .text(text) }
        }
        return nil
    }
}

extension Substring.UTF8View {
    /// The end of the first value; nil if nothing is left.
    fileprivate var indexOfComma: Index? {
        isEmpty ? nil : firstIndex(of: UInt8(ascii: ",")) ?? endIndex
    }
}

/// The time when a server made a response, by the server's clock. The dates in the response's header are measured
/// against it, so that a server with a wrong clock is still understood.
package struct ResponseTime {
    /// The response's own `Date`, or the client's time if there is none. Of several (a gateway may add one to the
    /// server's), the earliest, so that no retry comes early.
    package let secondsSince1970: Int64
    /// The current year, against which the two-digit years of dates are read.
    package let year: Int

    /// - Parameters:
    ///   - header: The response's header.
    ///   - now: The time used if there is no `Date`.
    package init(_ header: HttpHeader, now: Date) {
        let now = now.clockSeconds
        let year = Int(1970 + now / 31_556_952)  // the Gregorian mean; only two-digit years look at it
        let dates = header.values(of: .date).flatMap { JoinedValues($0, year: year).compactMap(\.date) }
        secondsSince1970 = dates.map(\.secondsSince1970).min() ?? now
        self.year = year
    }

    /// How many seconds later `date` is; zero for a date in the past.
    package func seconds(until date: HttpDate) -> Int64 { max(0, date.secondsRoundedUp - secondsSince1970) }
}
