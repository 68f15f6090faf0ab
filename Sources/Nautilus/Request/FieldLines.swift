import Foundation

/// The field lines of a header as they came over the wire, read where they lie: of most answers, most fields are never
/// asked for, and a text for each would cost more than all the questions.
struct FieldLines: Sendable {
    /// The lines, with their ends.
    fileprivate let bytes: [UInt8]

    /// - Parameter bytes: Complete lines, each with a colon behind a name, or a continuation of the one before.
    /// - Returns: Nil for lines that do not read as they lie: a value that goes on in the next line (RFC 9112 §5.2), a
    ///   blank before a colon, anything but ASCII.
    init?(_ bytes: [UInt8]) {
        guard bytes.reduce(0, |) < 0x80 else { return nil }
        self.bytes = bytes
        let isPlain = bytes.withUnsafeBytes { bytes in
            bytes.lines.allSatisfy { line in
                guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else { return false }
                return line[line.startIndex] > 0x20 && line[colon - 1] > 0x20
            }
        }
        guard isPlain else { return nil }
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// All of them, as texts.
    var fields: [HttpHeader.Field] { Self.fields(of: bytes) }

    /// The values of `name`, in their order.
    func values(of name: HttpHeader.Name) -> [String] {
        var values: [String] = []
        forEachValue(of: name) { values.append($0) }
        return values
    }

    /// The values of `name`, joined by `", "`; nil when there is none.
    func joinedValues(of name: HttpHeader.Name) -> String? {
        var joined: String?
        forEachValue(of: name) { value in joined = joined.map { $0 + ", " + value } ?? value }
        return joined
    }

    private func forEachValue(of name: HttpHeader.Name, _ take: (String) -> Void) {
        var name = name.rawValue
        name.withUTF8 { name in
            // No name has one: what looks like it is the beginning of a value.
            guard !name.contains(0x3A) else { return }
            bytes.withUnsafeBytes { bytes in
                for line in bytes.lines {
                    let colon = line.startIndex + name.count
                    guard colon < line.endIndex, line[colon] == 0x3A, line[..<colon].isSameName(as: name) else {
                        continue
                    }
                    take(line[(colon + 1)...].trimmed.text)
                }
            }
        }
    }

    /// Whether both are the same lines in the same place of memory.
    func isIdentical(to other: FieldLines) -> Bool {
        bytes.withUnsafeBytes { own in other.bytes.withUnsafeBytes { own.baseAddress == $0.baseAddress } }
    }

    /// The fields of any lines, in their order.
    ///
    /// A value is UTF-8 where it can be, and Latin-1 otherwise, as it once was (RFC 9110 §5.5).
    static func fields(of bytes: [UInt8]) -> [HttpHeader.Field] {
        var fields: [HttpHeader.Field] = []
        fields.reserveCapacity(16)
        bytes.withUnsafeBytes { bytes in
            for line in bytes.lines {
                if line.first == 0x20 || line.first == 0x09 {
                    guard let last = fields.popLast() else { continue }
                    let value = last.value + " " + line.trimmed.text
                    fields.append(HttpHeader.Field(name: last.name, value: value))
                } else if let colon = line.firstIndex(of: 0x3A) {
                    let name = HttpHeader.Name(line[..<colon].trimmed.text)
                    fields.append(HttpHeader.Field(name: name, value: line[(colon + 1)...].trimmed.text))
                }
            }
        }
        return fields
    }
}

extension FieldLines: Equatable {
    static func == (left: FieldLines, right: FieldLines) -> Bool { left.bytes == right.bytes }
}

extension UnsafeRawBufferPointer {
    /// The lines in it, with their ends.
    fileprivate var lines: UnfoldSequence<Slice<UnsafeRawBufferPointer>, Int> {
        sequence(state: startIndex) { start in
            guard start < endIndex, let base = baseAddress else { return nil }
            let found = memchr(base + start, 0x0A, endIndex - start)
            let end = found.map { UnsafeRawPointer($0) - base + 1 } ?? endIndex
            defer { start = end }
            return self[start..<end]
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Without the blanks and line ends around it.
    var trimmed: Slice<UnsafeRawBufferPointer> {
        var rest = self
        while let first = rest.first, first <= 0x20 { rest = rest.dropFirst() }
        while let last = rest.last, last <= 0x20 { rest = rest.dropLast() }
        return rest
    }

    /// Whether it is `name`, but for case, and as long.
    fileprivate func isSameName(as name: UnsafeBufferPointer<UInt8>) -> Bool {
        zip(self, name).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    fileprivate var text: String {
        let bytes = UnsafeRawBufferPointer(rebasing: self)
        if bytes.count > 15, let known = Self.knownTexts.first(where: { $0.utf8.elementsEqual(bytes) }) { return known }
        let text = String(decoding: bytes, as: UTF8.self)
        guard !bytes.allSatisfy({ $0 < 0x80 }) else { return text }
        // What is not UTF-8 has become another text, of other bytes.
        guard text.utf8.count == bytes.count, text.utf8.elementsEqual(bytes) else {
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        return text
    }

    /// Names and values that are too long to be kept without memory of their own, and common.
    private static let knownTexts = [
        "application/json", "application/json; charset=utf-8", "Content-Encoding", "Transfer-Encoding",
        "Strict-Transport-Security",
    ]
}
