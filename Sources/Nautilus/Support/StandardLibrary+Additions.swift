import Foundation

extension Duration {
    /// The duration, cut to what can be added to a time stamp: from zero to a hundred years.
    ///
    /// Sums of durations trap on overflow, clocks count nanoseconds in 64 bits, and lifetimes, pauses and "for ever"
    /// come from servers and users. `Int64`, since an `Int` has 32 bits on some watches.
    package var clampedToCentury: Duration {
        max(.zero, min(self, .seconds(Int64(3_155_760_000))))
    }
}

extension Duration {
    /// The duration for people, cut to thousandths: `412 µs`, `850 ms`, `1.250 s`, `90 s`.
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
    /// The whole nanoseconds of the duration, cut to what can be added to a time stamp.
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
    /// Whether all of its bytes satisfy `predicate`.
    ///
    /// Reads them in place: every byte of every header is looked at.
    func hasOnly(_ predicate: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(predicate) } ?? utf8.allSatisfy(predicate)
    }

    /// Whether both are the same bytes, which strings that are equal in Unicode's eyes need not be.
    func hasSameBytes(as other: String) -> Bool {
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
    /// By bytes: from its end, Unicode's characters can only be found in a time that grows with their square.
    package var trimmingBlanks: Substring {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let bytes = self[...].utf8
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(bytes[...last].drop(while: isBlank))
    }
}

extension Optional {
    /// The value, which is nil from now on.
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}

extension ObjectIdentifier {
    /// The identity of a value of any type; nil when it is no object, and has none.
    init?(ofAny value: Any) {
        guard type(of: value) is AnyClass else { return nil }
        self.init(value as AnyObject)
    }
}

/// An error of this package that is fit to be printed: its description holds no secret.
package protocol PrintableError: Error, CustomStringConvertible {}

/// An error of this package that may have come from another one.
package protocol WrappingError: Error {
    /// The error that it came from; nil when it came from none.
    var wrapped: (any Error)? { get }
}
