import Foundation

/// Turns text into UTF-8 while it arrives, in pieces that may be cut anywhere.
///
/// UTF-8 is passed on as it is, with what is malformed in it. In UTF-16, what is malformed becomes U+FFFD.
package struct TextTranscoder: Sendable {
    /// Whether anything was malformed; never true for UTF-8.
    private(set) var hasMalformed = false
    private var charset: TextCharset
    /// The first bytes, until it is clear whether they are a byte order mark; nil afterwards.
    private var beginning: Data? = Data()
    /// The first byte of a code unit whose second is still to come.
    private var half: UInt8?
    /// A surrogate whose other half is still to come.
    private var surrogate: UInt16?

    /// - Parameter charset: The declared one; a byte order mark wins over it.
    package init(_ charset: TextCharset) {
        self.charset = charset
    }

    /// The text of the next piece, in UTF-8.
    ///
    /// - Throws: ``HttpBodyStream/UnknownCharset``.
    package mutating func append(_ piece: Data) throws(HttpBodyStream.UnknownCharset) -> Data {
        guard let known = beginning else { return try transcoded(piece) }
        let bytes = known + piece
        beginning = bytes
        return TextCharset.mayBecomeMark(bytes) || bytes.isEmpty ? Data() : try begin()
    }

    /// The text that is left when no more bytes come.
    ///
    /// - Throws: ``HttpBodyStream/UnknownCharset``.
    package mutating func finish() throws(HttpBodyStream.UnknownCharset) -> Data {
        var rest = beginning == nil ? Data() : try begin()
        if half != nil || surrogate != nil {
            (half, surrogate, hasMalformed) = (nil, nil, true)
            rest.append(contentsOf: Self.replacement)
        }
        return rest
    }

    private mutating func begin() throws(HttpBodyStream.UnknownCharset) -> Data {
        let bytes = beginning.take() ?? Data()
        guard let (charset, length) = TextCharset.mark(of: bytes) else { return try transcoded(bytes) }
        self.charset = charset
        return try transcoded(Data(bytes.dropFirst(length)))
    }

    private mutating func transcoded(_ bytes: Data) throws(HttpBodyStream.UnknownCharset) -> Data {
        switch charset {
        case .utf8: return bytes
        case .windows1252:
            return bytes.reduce(into: Data(capacity: bytes.count)) { text, byte in
                let scalar = 0x80...0x9F ~= byte ? Self.windows1252[Int(byte) - 0x80] : Unicode.Scalar(byte)
                text.append(contentsOf: UTF8.encode(scalar) ?? Self.replacement)
            }
        case .utf16LittleEndian, .utf16BigEndian:
            var text = Data(capacity: bytes.count)
            for byte in bytes {
                guard let first = half.take() else {
                    half = byte
                    continue
                }
                let isLittle = charset == .utf16LittleEndian
                append(isLittle ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte), to: &text)
            }
            return text
        case .unknown(let label):
            if bytes.isEmpty { return bytes }
            throw HttpBodyStream.UnknownCharset(label)
        }
    }

    private mutating func append(_ unit: UInt16, to text: inout Data) {
        if let high = surrogate.take() {
            if 0xDC00...0xDFFF ~= unit {
                let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                text.append(contentsOf: Unicode.Scalar(value).flatMap(UTF8.encode) ?? Self.replacement)
                return
            }
            hasMalformed = true
            text.append(contentsOf: Self.replacement)
        }
        if 0xD800...0xDBFF ~= unit {
            surrogate = unit
        } else if let scalar = Unicode.Scalar(unit), let bytes = UTF8.encode(scalar) {
            text.append(contentsOf: bytes)
        } else {
            hasMalformed = true
            text.append(contentsOf: Self.replacement)
        }
    }

    /// U+FFFD in UTF-8.
    private static let replacement = UTF8.encodedReplacementCharacter

    /// The characters of 0x80 to 0x9F (WHATWG Encoding, "index windows-1252").
    private static let windows1252 = Array(windows1252Text.unicodeScalars)
    private static let windows1252Text = """
        \u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}\
        \u{17D}\u{8F}\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}\
        \u{153}\u{9D}\u{17E}\u{178}
        """
}

extension Data {
    /// The bytes as text.
    ///
    /// - Parameter charset: The declared charset; a byte order mark wins over it, and is not part of the text.
    /// - Throws: `DecodingError.dataCorrupted` for bytes that are no text in this charset;
    ///   ``HttpBodyStream/UnknownCharset``.
    package func text(in charset: TextCharset) throws -> String {
        var transcoder = TextTranscoder(charset)
        let text = try transcoder.append(self) + transcoder.finish()
        guard !transcoder.hasMalformed, let text = String(bytes: text, encoding: .utf8) else {
            let name = charset == .utf8 ? "UTF-8 text" : "text in its charset"
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The body is not \(name)."))
        }
        return text
    }

    /// The bytes as text, with U+FFFD for what is malformed.
    ///
    /// - Throws: ``HttpBodyStream/UnknownCharset``.
    package func repairedText(in charset: TextCharset) throws(HttpBodyStream.UnknownCharset) -> String {
        var transcoder = TextTranscoder(charset)
        let beginning = try transcoder.append(self)
        return String(decoding: beginning + (try transcoder.finish()), as: UTF8.self)
    }
}
