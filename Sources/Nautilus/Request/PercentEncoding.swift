extension String {
    /// The string with every byte but the unreserved ones of RFC 3986 §2.3 percent-encoded.
    package var percentEncoded: String {
        guard !utf8.allSatisfy(\.isUnreserved) else { return self }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count * 3)
        for byte in utf8 {
            if byte.isUnreserved {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    private var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }

    /// `ALPHA / DIGIT / "-" / "." / "_" / "~"` (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        isLetterOrDigit || [0x2D, 0x2E, 0x5F, 0x7E].contains(self)
    }

    /// `tchar` of RFC 9110 §5.6.2: what methods and field names are made of.
    package var isTokenCharacter: Bool {
        isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}
