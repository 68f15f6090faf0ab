import Foundation

extension Duration {
    /// The duration, limited to what can be added to a time stamp: from zero to a hundred years.
    ///
    /// Sums of durations trap on overflow, clocks count nanoseconds in 64 bits, and servers and users send lifetimes,
    /// pauses and "for ever".
    package var clampedToCentury: Duration {
        max(.zero, min(self, .seconds(Self.secondsOfCentury)))
    }

    /// An `Int64`, since an `Int` has 32 bits on some watches.
    static let secondsOfCentury: Int64 = 3_155_760_000
}

extension Duration {
    /// The duration for people, truncated to thousandths: `412 µs`, `850 ms`, `1.250 s`, `90 s`.
    package var brief: String {
        let (seconds, attoseconds) = components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        let microseconds = attoseconds / 1_000_000_000_000
        if seconds == 0, milliseconds == 0, microseconds != 0 { return "\(microseconds) µs" }
        if seconds == 0 { return "\(milliseconds) ms" }
        if milliseconds == 0 { return "\(seconds) s" }
        let sign = seconds < 0 || milliseconds < 0 ? "-" : ""
        let fraction = String(1000 + milliseconds.magnitude).dropFirst()
        return "\(sign)\(seconds.magnitude).\(fraction) s"
    }
}

extension Duration {
    /// The whole nanoseconds of the duration, limited to what can be added to a time stamp.
    ///
    /// Dividing two durations gives a `Double`, which is off by more than a nanosecond after a hundred days.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = clampedToCentury.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension [UInt8] {
    /// The bytes in lower-case hexadecimal, two digits each.
    package var hexadecimal: String {
        reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}

extension String {
    /// Whether all bytes of the string satisfy `predicate`.
    ///
    /// Reads the bytes in place, since every byte of every header is checked.
    package func hasOnly(_ predicate: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(predicate) } ?? utf8.allSatisfy(predicate)
    }

    /// Whether both strings have the same bytes, which strings that Unicode calls equal need not have.
    package func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { other in
                guard bytes.count == other.count else { return false }
                guard let own = bytes.baseAddress, let others = other.baseAddress else { return true }
                return own == others || memcmp(own, others, bytes.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs around it (RFC 9110 §5.6.3).
    ///
    /// Works by bytes: searching Unicode characters from the end takes quadratic time.
    package var trimmingBlanks: Substring {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let bytes = self[...].utf8
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(bytes[...last].drop(while: isBlank))
    }
}

extension Optional {
    /// Returns the value, and sets it to nil.
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

extension ObjectIdentifier {
    /// Creates the identity of a value of any type; nil if the value is not an object.
    package init?(ofAny value: Any) {
        guard type(of: value) is AnyClass else { return nil }
        self.init(value as AnyObject)
    }
}

/// An error of this package that is safe to print, since its description contains no secret.
package protocol PrintableError: Error, CustomStringConvertible {}

/// An error of this package that another error may have caused.
package protocol WrappingError: Error {
    /// The error that caused this one; nil if there is none.
    var wrapped: (any Error)? { get }
    /// The status of the server's answer; nil when there was none, and for an error that has no answer.
    var answeredStatus: Int? { get }
}

extension WrappingError {
    package var answeredStatus: Int? { nil }
}
