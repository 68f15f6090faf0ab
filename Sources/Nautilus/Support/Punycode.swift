import Foundation

/// Labels of international host names, in the ASCII that goes on the wire (RFC 3492).
///
/// Done here because `URL(string:)` refuses such hosts on the oldest systems of the package, and maps them on newer.
enum Punycode {
    /// The host with every label in ASCII and in small letters; nil when one is empty, too long, or has a character
    /// that no host name has.
    ///
    /// The mapping is what UTS #46 does to the names that people register: small letters, compatibility forms, and the
    /// ideographic full stop as a dot. Delimiters are looked for after it: `℀` maps to `a/c`.
    static func host(_ name: Substring) -> String? {
        var mapped = name.lowercased()
        if !mapped.unicodeScalars.allSatisfy(\.isASCII) {
            mapped = mapped.precomposedStringWithCompatibilityMapping.lowercased()
        }
        var labels = mapped.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "\u{3002}" }
        // The dot at the end of an absolute name (RFC 1034 §3.1).
        let isAbsolute = labels.count > 1 && labels.last?.isEmpty == true
        if isAbsolute { labels.removeLast() }

        var encoded: [String] = []
        for label in labels {
            guard let ascii = label.allSatisfy(\.isASCII) ? String(label) : encode(Array(label)).map({ "xn--" + $0 }),
                (1...63).contains(ascii.utf8.count), ascii.utf8.allSatisfy(\.isHostCharacter)
            else { return nil }
            encoded.append(ascii)
        }
        let host = encoded.joined(separator: ".")
        return host.utf8.count > 253 ? nil : isAbsolute ? host + "." : host
    }

    /// RFC 3492 §6.3, with the parameters of §5; nil for a label that cannot fit, or has an invisible character.
    static func encode(_ label: [Unicode.Scalar]) -> String? {
        guard label.count <= 63, label.allSatisfy(\.isVisible) else { return nil }
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }

        var (next, delta, bias, handled) = (UInt32(128), 0, 72, basicCount)
        let values = label.map(\.value)
        while let least = values.filter({ $0 >= next }).min() {
            delta += Int(least - next) * (handled + 1)
            for value in values {
                if value < least { delta += 1 }
                guard value == least else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                (delta, handled) = (0, handled + 1)
            }
            (next, delta) = (least + 1, delta + 1)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// A delta as a generalized variable-length integer (RFC 3492 §3.3).
    private static func digits(of delta: Int, bias: Int) -> [UInt8] {
        var (digits, rest, position) = ([UInt8](), delta, 36)
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard rest >= threshold else { return digits + [digit(rest)] }
            digits.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            (rest, position) = ((rest - threshold) / (36 - threshold), position + 36)
        }
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26)
    }

    /// The bias for the next delta (RFC 3492 §6.1).
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var (delta, steps) = (isFirst ? delta / 700 : delta / 2, 0)
        delta += delta / count
        while delta > 455 { (delta, steps) = (delta / 35, steps + 36) }
        return steps + 36 * delta / (delta + 38)
    }
}

extension UInt8 {
    /// Letters, digits, hyphens (RFC 1123 §2.1), and the underscore that some names have all the same.
    fileprivate var isHostCharacter: Bool { isLetterOrDigit || self == 0x2D || self == 0x5F }
}

extension Unicode.Scalar {
    /// Whether the scalar shows: one that does not would make two hosts look the same.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}
