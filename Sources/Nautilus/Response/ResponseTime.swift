import Foundation

/// When a server made a response, by its own clock. The dates in its header are measured against it, so that a server
/// with a wrong clock is still understood.
package struct ResponseTime {
    /// The response's own `Date`; the client's time where it has none. Of several, as a gateway adds one to the server's,
    /// the earliest, so that nothing comes early.
    package let secondsSince1970: Int64
    /// The current year, against which the two-digit years of dates are read.
    package let year: Int

    /// - Parameters:
    ///   - header: The response's header.
    ///   - now: The time that stands in for a missing `Date`.
    package init(_ header: HttpHeader, now: Date) {
        let clock = now.timeIntervalSince1970
        // A clock outside of the years that a date can be written in is not set.
        let now = (0..<253_402_300_800).contains(clock) ? Int64(clock) : 0
        let year = Int(1970 + now / 31_556_952)  // the Gregorian mean; only two-digit years look at it
        let dates = header.values(of: .date).flatMap { JoinedValues($0, year: year).compactMap(\.date) }
        secondsSince1970 = dates.map(\.secondsSince1970).min() ?? now
        self.year = year
    }

    /// How many seconds later `date` is; zero for one in the past.
    package func seconds(until date: HttpDate) -> Int64 { max(0, date.secondsSince1970 - secondsSince1970) }
}
