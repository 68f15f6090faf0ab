/// A set of status codes.
///
/// ```swift
/// var acceptedStatusCodes: HttpStatusCodes { [.success, 304] }
/// ```
public struct HttpStatusCodes: Hashable, Sendable, ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral {
    private let ranges: [ClosedRange<Int>]

    private init(ranges: [ClosedRange<Int>]) {
        // Sorted and merged, so that sets of the same codes are equal, however they were written.
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            guard let last = merged.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 else {
                merged.append(range)
                return
            }
            merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
    }

    /// Creates the set of all codes in `range`.
    public init(_ range: ClosedRange<Int>) {
        self.ranges = [range]
    }

    /// Creates a set of one code.
    public init(integerLiteral code: Int) {
        self.ranges = [code...code]
    }

    /// Creates the union of sets.
    public init(arrayLiteral sets: HttpStatusCodes...) {
        self.init(ranges: sets.flatMap(\.ranges))
    }

    /// 200…299: the request was received, understood and accepted (RFC 9110 §15.3).
    public static let success = HttpStatusCodes(200...299)

    /// Whether the set contains `code`.
    public func contains(_ code: Int) -> Bool {
        ranges.contains { $0.contains(code) }
    }
}
