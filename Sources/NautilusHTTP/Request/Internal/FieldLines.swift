import Foundation

/// The field lines of a header as received, searched in place: most fields of most answers are never read, and making a
/// string for each would cost more than all the searches.
struct FieldLines: Sendable {
    /// The lines, with their ends.
    fileprivate let bytes: [UInt8]

    /// - Parameter bytes: Complete lines, each either a name followed by a colon, or a continuation of the line before.
    /// - Returns: Nil for lines that cannot be read in place: a value that continues in the next line (RFC 9112 §5.2),
    ///   a blank before a colon, anything but ASCII.
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

    /// All fields, as strings.
    var fields: [HttpHeader.Field] { Self.fields(of: bytes) }

    /// The values of `name`, in order.
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
            // No valid name contains a colon; such a name could only match into a value.
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

    /// The fields of any lines, in order.
    ///
    /// A value is read as UTF-8 if it is valid UTF-8, and otherwise as Latin-1, the former encoding (RFC 9110 §5.5).
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
    /// The lines of the buffer, with their ends.
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
    /// The slice without the blanks and line ends around it.
    package var trimmed: Slice<UnsafeRawBufferPointer> {
        var rest = self
        while let first = rest.first, first <= 0x20 { rest = rest.dropFirst() }
        while let last = rest.last, last <= 0x20 { rest = rest.dropLast() }
        return rest
    }

    /// Whether the slice, which is as long as `name`, equals it without regard to case.
    fileprivate func isSameName(as name: UnsafeBufferPointer<UInt8>) -> Bool {
        zip(self, name).allSatisfy { $0 == $1 || $0.asciiLowercased == $1.asciiLowercased }
    }

    fileprivate var text: String {
        let bytes = UnsafeRawBufferPointer(rebasing: self)
        if bytes.count > 15, let known = Self.knownTexts.first(where: { $0.utf8.elementsEqual(bytes) }) { return known }
        let text = String(decoding: bytes, as: UTF8.self)
        guard !bytes.allSatisfy({ $0 < 0x80 }) else { return text }
        // Decoding has changed the bytes if they were not UTF-8.
        guard text.utf8.count == bytes.count, text.utf8.elementsEqual(bytes) else {
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        return text
    }

    /// Common names and values that are too long for a string without memory of its own.
    private static let knownTexts = [
        "application/json", "application/json; charset=utf-8", "Content-Encoding", "Transfer-Encoding",
        "Strict-Transport-Security",
    ]
}
