/// Reads `WWW-Authenticate`: several challenges in one value, whose own parameters are separated by commas as well.
///
/// A server may send anything, so nothing traps, and every byte is looked at a bounded number of times.
struct ChallengeParser {
    /// A challenge that may still get parameters.
    private struct Draft {
        var scheme: String
        var parameters: [String: String] = [:]
        var token68: String?

        /// Of a repeated name the first value counts: a second one is not allowed, and may have been smuggled in.
        mutating func add(_ value: String, to name: String) {
            let name = name.lowercased()
            if parameters[name] == nil { parameters[name] = value }
        }
    }

    private let bytes: [UInt8]
    private var position = 0
    /// How many bytes have been looked at: what a hostile header costs.
    private(set) var steps = 0

    init(_ value: String) {
        bytes = Array(value.utf8)
    }

    /// All challenges, in order.
    mutating func challenges() -> [AuthenticationChallenge] {
        var drafts: [Draft] = []
        while position < bytes.count {
            skip { $0.isBlank || $0 == .comma }
            guard let token = readToken() else {
                skipGarbage()
                continue
            }
            // What is followed by "=" belongs to the challenge before it; anything else begins a new one.
            if let value = readParameterValue() {
                if let last = drafts.indices.last { drafts[last].add(value, to: token) }
            } else {
                drafts.append(Draft(scheme: token, token68: readToken68()))
            }
        }
        return drafts.map { AuthenticationChallenge(scheme: $0.scheme, parameters: $0.parameters, token68: $0.token68) }
    }

    private mutating func readToken() -> String? {
        let start = position
        skip { $0.isTokenCharacter }
        return start < position ? text(start..<position) : nil
    }

    /// `= token` or `= "quoted"`, blanks allowed (RFC 9110 §5.6.6); nil, and nothing read, when there is no `=`.
    private mutating func readParameterValue() -> String? {
        let start = position
        skip { $0.isBlank }
        guard current == .equals else {
            position = start
            return nil
        }
        position += 1
        skip { $0.isBlank }
        if current == .quote { return readQuoted() }
        // Lenient: many servers leave out the quotes around a URL.
        let valueStart = position
        skip { !$0.isBlank && $0 != .comma && $0 != .quote }
        return text(valueStart..<position)
    }

    /// The text between quotes, without the backslashes (RFC 9110 §5.6.4); to the end when the second quote is missing.
    private mutating func readQuoted() -> String {
        position += 1
        var unquoted: [UInt8] = []
        while let byte = current, byte != .quote {
            if byte == .backslash, position + 1 < bytes.count { position += 1 }
            unquoted.append(bytes[position])
            position += 1
            steps += 1
        }
        position = min(position + 1, bytes.count)
        return String(decoding: unquoted, as: UTF8.self)
    }

    /// A token68 after a scheme; nil, and nothing read, when parameters or another challenge follow.
    private mutating func readToken68() -> String? {
        let start = position
        skip { $0.isBlank }
        let textStart = position
        skip { $0.isToken68Character }
        let hasText = position > textStart
        skip { $0 == .equals }
        let end = position
        skip { $0.isBlank }
        guard hasText, start < textStart, current == nil || current == .comma else {
            position = start
            return nil
        }
        return text(textStart..<end)
    }

    /// Skips what cannot begin a token: a quoted text as a whole, so that its commas separate nothing.
    private mutating func skipGarbage() {
        guard let byte = current else { return }
        if byte == .quote { _ = readQuoted() } else { position += 1 }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < bytes.count, condition(bytes[position]) {
            position += 1
            steps += 1
        }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let backslash = UInt8(ascii: "\\")

    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// What a token68 consists of, its final `=` apart (RFC 9110 §11.2).
    fileprivate var isToken68Character: Bool {
        isLetterOrDigit || "-._~+/".utf8.contains(self)
    }
}
