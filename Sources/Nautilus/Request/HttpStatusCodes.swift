/// A set of status codes.
///
/// ```swift
/// var acceptedStatusCodes: HttpStatusCodes { [.success, 304] }
/// ```
public struct HttpStatusCodes: Hashable, Sendable, ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral {
    private let ranges: [ClosedRange<Int>]

    private init(ranges: [ClosedRange<Int>]) {
        self.ranges = ranges
    }

    /// Every code of `range`.
    public init(_ range: ClosedRange<Int>) {
        self.ranges = [range]
    }

    /// One code.
    public init(integerLiteral code: Int) {
        self.ranges = [code...code]
    }

    /// Everything in any of the sets.
    public init(arrayLiteral sets: HttpStatusCodes...) {
        self.ranges = sets.flatMap(\.ranges)
    }

    /// 200…299: the request was received, understood and accepted (RFC 9110 §15.3).
    public static let success = HttpStatusCodes(200...299)

    /// Whether `code` is one of them.
    public func contains(_ code: Int) -> Bool {
        ranges.contains { $0.contains(code) }
    }
}
