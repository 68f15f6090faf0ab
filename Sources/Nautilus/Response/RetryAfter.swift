import Foundation

extension HttpHeader {
    /// How long `Retry-After` asks to wait (RFC 9110 §10.2.3), in seconds or as a date; nil when it says nothing valid.
    ///
    /// A date is measured against the response's own `Date`, so that a server whose clock is wrong is still
    /// understood; a date in the past is zero. A number too large to be meant is still an order to stay away, and
    /// becomes ``longestRetryAfter``.
    ///
    /// - Parameter now: What stands in for a missing `Date`.
    public func retryAfter(now: @autoclosure () -> Date = Date()) -> Duration? {
        guard let value = values(of: .retryAfter).first.map(Self.trimmed), !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return min(Int64(value).map { .seconds($0) } ?? Self.longestRetryAfter, Self.longestRetryAfter)
        }
        let now = Int64(now().timeIntervalSince1970)
        let year = 1970 + Int(now / 31_556_952)  // the Gregorian mean; only two-digit years look at it
        guard let date = HttpDate(value, year: year) else { return nil }
        let sent = values(of: .date).first.flatMap { HttpDate(Self.trimmed($0), year: year) }
        let seconds = date.secondsSince1970 - (sent?.secondsSince1970 ?? now)
        return .seconds(max(0, seconds))
    }

    /// About 136 years: where larger numbers are cut, far from where a `Duration` would overflow.
    public static let longestRetryAfter = Duration.seconds(Int64(UInt32.max))

    private static func trimmed(_ value: String) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = value.drop(while: isBlank)
        return start.isEmpty ? start : start[...(start.lastIndex { !isBlank($0) } ?? start.startIndex)]
    }
}
