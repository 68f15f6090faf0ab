import Foundation
import Nautilus

/// The reply of a token endpoint that has issued a token (RFC 6749 §5.1).
struct TokenReply: Sendable {
    let accessToken: String
    /// Nil when there is none; the token that was spent then stays valid (§6).
    let refreshToken: String?
    /// The type as the server writes it. `Bearer` when it is missing, since servers that leave it out issue nothing
    /// else. Another type is kept as well, along with the refresh token that may have been rotated for it, but a
    /// session stamps only `Bearer`.
    let tokenType: String
    /// Nil when the server does not say, or its value cannot be read; it is then the scope that was asked for.
    let scope: OAuthScope?
    /// Nil when the server does not say, or names less than a second.
    ///
    /// Refusing the reply because of it would lose a refresh token that has been rotated; a missing expiry leads at
    /// worst to a 401 and a refresh.
    let lifetime: Duration?

    /// Reads a reply.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        accessToken = try fields.requiredText("access_token")
        // The characters that RFC 6749 appendix A.12 allows, and that any header can carry.
        guard accessToken.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw MalformedReply("access_token has characters that no token has")
        }
        tokenType = try fields.text("token_type").flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer"
        // Some servers send an empty text instead of omitting the field.
        refreshToken = try fields.text("refresh_token").flatMap { $0.isEmpty ? nil : $0 }
        let scope = fields.joinedTexts("scope").map(OAuthScope.init(parsing:))
        self.scope = scope?.isEmpty == true ? nil : scope
        lifetime = fields.seconds("expires_in")
    }

    /// The credential that the reply makes. Values that the reply leaves out stay as they were, except for the
    /// lifetime.
    ///
    /// - Parameters:
    ///   - old: The credential that it replaces; nil for a sign-in.
    ///   - requested: The scope that was asked for; nil when none was named.
    ///   - now: When the reply arrived.
    func credential(
        replacing old: OAuthCredential? = nil,
        requested: OAuthScope? = nil,
        receivedAt now: Date
    ) -> OAuthCredential {
        OAuthCredential(
            accessToken: accessToken,
            refreshToken: refreshToken ?? old?.refreshToken,
            tokenType: tokenType,
            scope: scope ?? requested.flatMap { $0.isEmpty ? nil : $0 } ?? old?.scope,
            lifetime: lifetime,
            receivedAt: now
        )
    }
}

extension TokenReply: Redacted {
    /// Never a token.
    var description: String { "TokenReply(\(tokenType))" }
}

/// The top-level fields of the JSON object that an authorization server replies with, or of the form that some servers
/// send in its place.
///
/// Foundation's decoder limits how deep a body may nest; nothing below the top level is looked at, except for lists of
/// texts.
struct ReplyFields: Sendable {
    /// The largest reply: 256 KiB. The largest tokens, which list all groups of a user, have some tens of KiB.
    static let sizeLimit = 262_144

    private let values: [String: Value]

    /// Reads a body as JSON, whatever its type is called.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data) throws(MalformedReply) {
        guard body.count <= Self.sizeLimit else { throw MalformedReply("it is larger than \(Self.sizeLimit) bytes") }
        do {
            values = try JSONDecoder().decode([String: Value].self, from: body)
        } catch {
            throw MalformedReply("it is no JSON object")
        }
    }

    /// Reads a body that has to be labelled as JSON, a form, or text, or not at all; some servers label JSON or a form
    /// as text.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        guard let contentType, !Self.isJson(contentType) else {
            try self.init(body)
            return
        }
        guard Self.mayBeForm(contentType) else { throw MalformedReply("its Content-Type is not JSON") }
        do throws(MalformedReply) {
            try self.init(body)
        } catch {
            try self.init(form: body)
        }
    }

    /// Reads a form. All its values are texts; the first value of a repeated name counts.
    private init(form body: Data) throws(MalformedReply) {
        guard body.count <= Self.sizeLimit else { throw MalformedReply("it is larger than \(Self.sizeLimit) bytes") }
        guard let fields = FormFields(String(decoding: body, as: UTF8.self)[...]) else {
            throw MalformedReply("it is no form")
        }
        values = fields.firstValues.mapValues(Value.text)
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

    /// Whether a media type is one in which a reply may come.
    static func mayBeReply(contentType: String) -> Bool { isJson(contentType) || mayBeForm(contentType) }

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
