import Foundation

extension HttpHeader {
    /// How long `Retry-After` asks to wait (RFC 9110 §10.2.3), in seconds or as a date; nil when it says nothing valid.
    ///
    /// A date is measured against the response's own `Date`, so that a server whose clock is wrong is still
    /// understood; a date in the past is zero. A number too large to be meant is still an order to stay away, and
    /// becomes ``longestRetryAfter``. Of several fields the longest counts, so that no retry comes early.
    ///
    /// - Parameter now: What stands in for a missing `Date`.
    public func retryAfter(now: @autoclosure () -> Date = Date()) -> Duration? {
        let values = values(of: .retryAfter)
        guard !values.isEmpty else { return nil }
        let clock = now().timeIntervalSince1970
        // A clock outside of the years that a date can be written in is not set.
        let now = (0..<253_402_300_800).contains(clock) ? Int64(clock) : 0
        return values.compactMap { seconds(in: Self.trimmed($0), now: now) }.max().map {
            min(.seconds($0), Self.longestRetryAfter)
        }
    }

    /// About 136 years: where larger numbers are cut, far from where a `Duration` would overflow.
    public static let longestRetryAfter = Duration.seconds(Int64(UInt32.max))

    private func seconds(in value: Substring, now: Int64) -> Int64? {
        guard !value.isEmpty else { return nil }
        if value.utf8.allSatisfy(\.isDigit) { return Int64(value) ?? .max }
        let year = Int(1970 + now / 31_556_952)  // the Gregorian mean; only two-digit years look at it
        guard let date = HttpDate(value, year: year) else { return nil }
        let sent = values(of: .date).first.flatMap { HttpDate(Self.trimmed($0), year: year)?.secondsSince1970 }
        return max(0, date.secondsSince1970 - (sent ?? now))
    }

    private static func trimmed(_ value: String) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = value.drop(while: isBlank)
        return start.isEmpty ? start : start[...(start.lastIndex { !isBlank($0) } ?? start.startIndex)]
    }
}
