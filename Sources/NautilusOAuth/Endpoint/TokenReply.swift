import Foundation
import Nautilus

/// The reply of a token endpoint that has issued a token (RFC 6749 §5.1).
struct TokenReply: Sendable {
    let accessToken: String
    /// Nil when there is none: then the one that was spent stays good (§6).
    let refreshToken: String?
    /// As the server writes it; `Bearer` when it does not, since servers that leave it out issue nothing else. One that
    /// is not some spelling of `Bearer` is kept as well, with the refresh token that may have been rotated for it; a
    /// session stamps none but `Bearer`.
    let tokenType: String
    /// Nil when the server does not say, or nothing that can be read: then it is the scope that was asked for.
    let scope: OAuthScope?
    /// Nil when the server does not say, or names less than a second.
    ///
    /// To refuse the reply because of it would lose a refresh token that has been rotated; without an expiry, the worst
    /// that follows is a 401 and a refresh.
    let lifetime: Duration?

    /// Reads a reply.
    ///
    /// - Throws: ``MalformedReply``.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        accessToken = try fields.requiredText("access_token")
        // The characters that RFC 6749 appendix A.12 allows, and any header can carry.
        guard accessToken.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw MalformedReply("access_token has characters that no token has")
        }
        tokenType = try fields.text("token_type").flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer"
        // Some servers send an empty text in place of nothing.
        refreshToken = try fields.text("refresh_token").flatMap { $0.isEmpty ? nil : $0 }
        let scope = fields.joinedTexts("scope").map(OAuthScope.init(parsing:))
        self.scope = scope?.isEmpty == true ? nil : scope
        lifetime = fields.seconds("expires_in")
    }

    /// The credential that it makes: values that the reply leaves out stay as they were, but for the lifetime.
    ///
    /// - Parameters:
    ///   - old: The credential it replaces; nil for a sign-in.
    ///   - requested: The scope that was asked for; nil when none was named.
    ///   - now: When the reply came.
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

/// The JSON object that an authorization server replies with, by its top-level fields; or the form, as some servers send in
/// its place.
///
/// Foundation's decoder bounds how deep a body may nest; nothing below the top level is looked at.
struct ReplyFields: Sendable {
    /// The most bytes of a reply: 256 KiB. The largest tokens, with all groups of a user in them, have some tens of KiB.
    static let sizeLimit = 262_144

    private let values: [String: Value]

    /// Reads a body, whatever it is called.
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

    /// Reads a body that has to be called JSON, a form, or text, as some servers call either of them, or nothing.
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

    /// Reads a form, all of whose values are texts; of a repeated name the first one counts.
    private init(form body: Data) throws(MalformedReply) {
        guard body.count <= Self.sizeLimit else { throw MalformedReply("it is larger than \(Self.sizeLimit) bytes") }
        guard let fields = FormFields(String(decoding: body, as: UTF8.self)[...]) else {
            throw MalformedReply("it is no form")
        }
        values = fields.firstValues.mapValues(Value.text)
    }

    /// A text; nil when it is missing, or null.
    ///
    /// - Throws: ``MalformedReply``, for anything else than a text.
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

    /// A text, or the texts of a list joined by blanks, as some servers send a scope; nil when it is missing, or something
    /// else.
    func joinedTexts(_ name: String) -> String? {
        switch values[name] {
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: " ")
        default: nil
        }
    }

    /// A list of texts; nil when it is missing, or something else.
    func texts(_ name: String) -> [String]? {
        if case .texts(let texts) = values[name] { texts } else { nil }
    }

    /// Whether it says true; a missing one, or one of another type, does not.
    func isTrue(_ name: String) -> Bool {
        if case .flag(true) = values[name] { true } else { false }
    }

    /// A number of seconds, at least one, as a number or, as some servers send it, a text of digits; nil when there is
    /// none. At most a hundred years, from where sums of durations could overflow.
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

    /// Whether a media type is that of a form, or of text, as which some servers send one.
    static func mayBeForm(_ contentType: String) -> Bool {
        ["application/x-www-form-urlencoded", "text/plain"].contains(mediaType(contentType))
    }

    /// Whether a media type is one of those in which a reply may come.
    static func mayBeReply(contentType: String) -> Bool { isJson(contentType) || mayBeForm(contentType) }

    private static func mediaType(_ contentType: String) -> String {
        contentType.prefix { $0 != ";" && $0 != "," }.lowercased().trimmingCharacters(in: .whitespaces)
    }
}

extension ReplyFields {
    /// As much of a JSON value as is looked at.
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

/// A fault in a reply of the authorization server, in words that repeat nothing of it.
struct MalformedReply: Error, Hashable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
