import Foundation
import Nautilus

/// The top-level fields of the JSON object that an authorization server replies with, or of the form that some servers
/// send in its place.
///
/// Foundation's decoder limits how deep a body may nest; nothing below the top level is read, except for lists of texts.
struct ReplyFields: Sendable {
    /// The largest reply: 256 KiB. The largest tokens, which list all groups of a user, have some tens of KiB.
    static let sizeLimit = 262_144

    private let values: [String: Value]
    /// The body, if it is JSON, for those who need the JSON text of a value.
    private let json: Data?

    /// Reads a body as JSON.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data) throws(MalformedReply) {
        guard body.count <= Self.sizeLimit else { throw MalformedReply("it is larger than \(Self.sizeLimit) bytes") }
        do {
            values = try JSONDecoder().decode([String: Value].self, from: body)
        } catch {
            throw MalformedReply("it is no JSON object")
        }
        json = body
    }

    /// Reads a body by its content: a body that parses as a JSON object is one, whatever its label. Otherwise it is
    /// read as a form if its label is that of a form or of text.
    ///
    /// A reply that is refused for its label alone would lose a refresh token that has been rotated.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        do throws(MalformedReply) {
            try self.init(body)
        } catch {
            guard let contentType, Self.mayBeForm(contentType) else { throw error }
            try self.init(form: body)
        }
    }

    /// Reads the body of an answer by its content.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ answer: HttpResponse<Data>) throws(MalformedReply) {
        try self.init(answer.body, contentType: answer.header.values(of: .contentType).first)
    }

    /// Reads a form. All its values are texts; the first value of a repeated name counts.
    private init(form body: Data) throws(MalformedReply) {
        guard body.count <= Self.sizeLimit else { throw MalformedReply("it is larger than \(Self.sizeLimit) bytes") }
        guard let fields = FormFields(String(decoding: body, as: UTF8.self)[...]) else {
            throw MalformedReply("it is no form")
        }
        values = fields.firstValues.mapValues(Value.text)
        json = nil
    }

    /// A text; nil when it is missing or null.
    ///
    /// - Throws: ``MalformedReply``, for anything but a text.
    func text(_ name: String) throws(MalformedReply) -> String? {
        switch values[name] {
        case nil, .null: return nil
        case .text(let text): return text
        default: throw MalformedReply("\(name) is no text")
        }
    }

    /// A text, or a number as it is written, since some servers number their tokens and codes; nil when it is missing or
    /// null.
    ///
    /// - Throws: ``MalformedReply``, for anything else.
    func token(_ name: String) throws(MalformedReply) -> String? {
        if case .number = values[name], let number = json.flatMap(JsonMembers.init)?.texts[name] { return number }
        return try text(name)
    }

    /// A text or a number that must not be missing or empty.
    ///
    /// - Throws: ``MalformedReply``.
    func requiredToken(_ name: String) throws(MalformedReply) -> String {
        guard let text = try token(name) else { throw MalformedReply("\(name) is missing") }
        guard !text.isEmpty else { throw MalformedReply("\(name) is empty") }
        return text
    }

    /// A text that must not be missing or empty.
    ///
    /// - Throws: ``MalformedReply``.
    func requiredText(_ name: String) throws(MalformedReply) -> String {
        guard let text = try text(name) else { throw MalformedReply("\(name) is missing") }
        guard !text.isEmpty else { throw MalformedReply("\(name) is empty") }
        return text
    }

    /// A text, or the texts of a list joined by blanks, as some servers send a scope; nil when it is missing or of
    /// another type.
    func joinedTexts(_ name: String) -> String? {
        switch values[name] {
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: " ")
        default: nil
        }
    }

    /// A list of texts; nil when it is missing or of another type.
    func texts(_ name: String) -> [String]? {
        if case .texts(let texts) = values[name] { texts } else { nil }
    }

    /// All fields except those named and those that are null: texts as they are, anything else as its JSON text.
    func texts(except names: Set<String>) -> [String: String] {
        var texts: [String: String] = [:]
        lazy var members = json.flatMap(JsonMembers.init)
        for (name, value) in values where !names.contains(name) {
            switch value {
            case .null: continue
            case .text(let text): texts[name] = text
            default: texts[name] = members?.texts[name]
            }
        }
        return texts
    }

    /// Whether the field is true; a missing field, or one of another type, is not.
    func isTrue(_ name: String) -> Bool {
        if case .flag(true) = values[name] { true } else { false }
    }

    /// A duration of at least one second, from a number or, as some servers send it, from a text of digits; nil when
    /// there is none. Limited to a hundred years, so that sums of durations cannot overflow.
    func seconds(_ name: String) -> Duration? {
        let seconds: Double? =
            switch values[name] {
            case .number(let number): number
            case .text(let text) where text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }): Double(text)
            default: nil
            }
        guard let seconds, seconds >= 1 else { return nil }
        return .seconds(min(seconds, 3_155_760_000))
    }

    /// Whether a media type is JSON: `application/json`, or one that ends in `+json` (RFC 6839 §3.1).
    private static func isJson(_ contentType: String) -> Bool {
        let type = mediaType(contentType)
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// Whether a media type is that of a form, or of text, which some servers use for a form.
    static func mayBeForm(_ contentType: String) -> Bool {
        ["application/x-www-form-urlencoded", "text/plain"].contains(mediaType(contentType))
    }

    /// Whether an answer may be the remains of a reply that broke off: its label is that of a reply, or missing, or its
    /// body is empty or begins as a JSON object does. A captive portal's page does not.
    static func mayBeRemains(of answer: HttpResponse<Data>) -> Bool {
        guard let contentType = answer.header.values(of: .contentType).first else { return true }
        if isJson(contentType) || mayBeForm(contentType) { return true }
        // Blanks, line ends and a byte order mark.
        let first = answer.body.first { !" \t\r\n".utf8.contains($0) && ![0xEF, 0xBB, 0xBF].contains($0) }
        return first == nil || first == UInt8(ascii: "{")
    }

    private static func mediaType(_ contentType: String) -> String {
        contentType.prefix { $0 != ";" && $0 != "," }.lowercased().trimmingCharacters(in: .whitespaces)
    }
}

extension ReplyFields {
    /// A JSON value, as far as it is looked at.
    private enum Value: Decodable, Sendable {
        case null, text(String), number(Double), flag(Bool), texts([String]), other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if container.decodeNil() {
                self = .null
            } else if let texts = try? container.decode([String].self) {
                self = .texts(texts)
            } else {
                self = .other
            }
        }
    }
}

/// A fault in a reply of the authorization server, in words that repeat none of it.
struct MalformedReply: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
