import Foundation

/// How the bytes of a text are read: the charsets that servers declare, by their labels in the WHATWG Encoding
/// standard.
package enum TextCharset: Hashable, Sendable {
    case utf8
    case utf16LittleEndian
    case utf16BigEndian
    /// Also what `iso-8859-1` and `us-ascii` mean.
    case windows1252
    /// A charset that is not read here, by its label.
    case unknown(String)

    /// - Parameter label: The value of `charset`, in any case; single quotes, which some servers write for double ones,
    ///   are ignored, and an empty value declares nothing.
    init(label: String) {
        let label = label.trimmingCharacters(in: CharacterSet(charactersIn: " \t'\""))
        switch label.lowercased() {
        case "", "utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8": self = .utf8
        case "utf-16", "utf-16le", "csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff":
            self = .utf16LittleEndian
        case "utf-16be", "unicodefffe": self = .utf16BigEndian
        case "windows-1252", "cp1252", "x-cp1252", "iso-8859-1", "iso8859-1", "iso88591", "iso_8859-1",
            "iso_8859-1:1987", "iso-ir-100", "csisolatin1", "latin1", "l1", "cp819", "ibm819", "us-ascii", "ascii",
            "ansi_x3.4-1968":
            self = .windows1252
        default: self = .unknown(label)
        }
    }

    /// The charset that a byte order mark at the beginning of `bytes` names, and the mark's length; nil without one.
    static func mark(of bytes: Data) -> (TextCharset, length: Int)? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        return bytes.starts(with: [0xFE, 0xFF]) ? (.utf16BigEndian, 2) : nil
    }

    /// Whether more bytes may make `bytes` a byte order mark.
    static func mayBecomeMark(_ bytes: Data) -> Bool {
        [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]].contains { $0.count > bytes.count && $0.starts(with: bytes) }
    }
}
