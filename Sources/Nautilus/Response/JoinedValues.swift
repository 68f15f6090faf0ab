/// The values of a field, one after the other, also where several lines have been joined by commas (RFC 9110 §5.3)
/// although the field is no list.
///
/// URL loading joins fields that come twice, from a gateway and the server behind it, say. The comma within a date
/// separates nothing.
package struct JoinedValues: Sequence, IteratorProtocol {
    /// One value.
    package enum Value {
        case date(HttpDate)
        /// Anything else, without the blanks around it; never empty.
        case text(Substring)

        /// The date; nil when it is none.
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
            // `Sun, 06 Nov 1994 08:49:37 GMT`: behind a weekday's comma its date goes on.
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
    /// Where the first value ends; nil when nothing is left.
    fileprivate var indexOfComma: Index? {
        isEmpty ? nil : firstIndex(of: UInt8(ascii: ",")) ?? endIndex
    }
}
