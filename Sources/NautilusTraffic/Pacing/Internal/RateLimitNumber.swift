import Nautilus

/// The number at the start of one of the older fields: digits, perhaps a fraction, then the end or further members.
///
/// `60`, `12.5`, `-1` and `100, 100;w=60` are all sent by real servers.
struct RateLimitNumber: Hashable, Sendable {
    /// The number without its fraction; zero for a negative number.
    let roundedDown: Int64
    /// The number rounded up; the same if it has no fraction.
    let roundedUp: Int64

    /// Reads a number; nil if there is none. A number with too many digits becomes the largest possible.
    init?(_ value: Substring) {
        let bytes = value.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = bytes.dropFirst(isNegative ? 1 : 0)
        let whole = digits.prefix(while: \.isDigit)
        var rest = digits[whole.endIndex...]
        guard !whole.isEmpty else { return nil }
        var hasFraction = false
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: \.isDigit)
            hasFraction = fraction.contains { $0 != UInt8(ascii: "0") }
            rest = rest[fraction.endIndex...]
        }
        // With anything else after it, it is not a number but a date or a duration with units.
        let next = rest.first { $0 != 0x20 && $0 != 0x09 }
        guard next == nil || next == UInt8(ascii: ",") || next == UInt8(ascii: ";") else { return nil }

        let number = isNegative ? 0 : Int64(Substring(whole)) ?? .max
        roundedDown = number
        roundedUp = hasFraction && !isNegative && number < .max ? number + 1 : number
    }
}
