import Foundation

extension HttpHeader {
    /// How long `Retry-After` asks to wait (RFC 9110 §10.2.3), in seconds or as a date; nil when it says nothing valid.
    ///
    /// A date is measured against the response's own `Date`, so that a server with a wrong clock is still understood; a
    /// date in the past is zero. A number too large to be meant is still an order to stay away, and becomes
    /// ``longestRetryAfter``. Of several fields the longest counts, so that no retry comes early, also where they have
    /// been joined into one (`5, 10`), as URL loading does.
    ///
    /// - Parameter now: The time that stands in for a missing `Date`.
    public func retryAfter(now: @autoclosure () -> Date = Date()) -> Duration? {
        let lines = values(of: .retryAfter)
        guard !lines.isEmpty else { return nil }
        let sent = ResponseTime(self, now: now())
        let hints = lines.lazy.flatMap { JoinedValues($0, year: sent.year) }.compactMap { value -> Int64? in
            switch value {
            case .date(let date): sent.seconds(until: date)
            case .text(let text): text.utf8.allSatisfy(\.isDigit) ? Int64(text) ?? .max : nil
            }
        }
        return hints.max().map { min(.seconds($0), Self.longestRetryAfter) }
    }

    /// About 136 years: where larger numbers are cut, far from where a `Duration` would overflow.
    public static let longestRetryAfter = Duration.seconds(Int64(UInt32.max))
}
