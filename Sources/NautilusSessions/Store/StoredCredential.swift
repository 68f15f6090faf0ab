import Foundation
import Nautilus

/// The record of a ``CredentialStore``: a credential as bytes, its session, and the state of its renewal.
///
/// A store need not know what kind of credential it keeps, and one that encrypts replaces ``content``.
public struct StoredCredential: Hashable, Sendable {
    /// The session: drawn at sign-in and kept by every renewal. It tells another process's renewal, which is adopted,
    /// from another user's sign-in, which is not.
    public let session: UUID
    /// The session's number: one more than that of the session that it replaced. Of two sign-ins of two processes it
    /// tells which one knew of the other; no clock does.
    public let number: Int
    /// How often the session's credential has been renewed: of two records of one session it tells which is the newer one,
    /// so that a store which is behind takes nothing back.
    public let renewals: Int
    /// The credential: its JSON, or the form in which a ``CredentialStore`` keeps that. Empty when the session has
    /// expired.
    public let content: Data
    /// How often the credential has been sent for its renewal, or was about to be, without an answer that is known: 0
    /// for one that was never sent. Written before sending, so that it outlives the process.
    public var unanswered: Int
    /// Whether the server has ended the session: nobody is signed in, other processes say why, and there is no
    /// credential.
    public let hasExpired: Bool
    /// Whether the credential was over when it came from its renewal, by this device's clock: that is wrong then, so the
    /// credential serves until the server rejects it, in every process.
    public let cameExpired: Bool

    private static let maxCount = 1_000_000_000

    /// Creates a record of bytes.
    ///
    /// - Parameters:
    ///   - session: The session it belongs to.
    ///   - number: The session's number. Default: 1, the first; less counts as that, and more than a billion as a
    ///     billion.
    ///   - renewals: How often its credential has been renewed. Default: 0, never; bounded like the number.
    ///   - content: The credential as bytes.
    ///   - unanswered: How often it was sent for its renewal without a known answer. Default: 0, never; bounded like the
    ///     number.
    ///   - hasExpired: Whether the server has ended the session. Default: false.
    ///   - cameExpired: Whether the credential was over when it came. Default: false.
    public init(
        session: UUID,
        number: Int = 1,
        renewals: Int = 0,
        content: Data,
        unanswered: Int = 0,
        hasExpired: Bool = false,
        cameExpired: Bool = false
    ) {
        self.session = session
        // Whatever a store brings, it can be added to.
        self.number = min(max(1, number), Self.maxCount)
        self.renewals = min(max(0, renewals), Self.maxCount)
        self.content = content
        self.unanswered = min(max(0, unanswered), Self.maxCount)
        self.hasExpired = hasExpired
        self.cameExpired = cameExpired
    }

    /// Creates a record of a credential, as JSON with sorted keys.
    ///
    /// - Throws: The error of the credential's encoding.
    public init(
        session: UUID,
        number: Int = 1,
        renewals: Int = 0,
        credential: some Encodable,
        unanswered: Int = 0,
        hasExpired: Bool = false,
        cameExpired: Bool = false
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = try encoder.encode(credential)
        self.init(
            session: session,
            number: number,
            renewals: renewals,
            content: content,
            unanswered: unanswered,
            hasExpired: hasExpired,
            cameExpired: cameExpired
        )
    }

    /// The credential.
    ///
    /// - Throws: ``CredentialStoreError/undecodable(type:)`` when it is of another type, as another version of the app
    ///   may have stored it; also when the session has expired, and there is none.
    public func credential<Credential: Decodable>(
        as type: Credential.Type = Credential.self
    ) throws(CredentialStoreError) -> Credential {
        // The error underneath may quote what it has read, which is a secret.
        guard let credential = try? JSONDecoder().decode(type, from: content) else {
            throw .undecodable(type: "\(type)")
        }
        return credential
    }
}

extension StoredCredential: Redacted {
    /// The session and the count; nothing of the credential.
    public var description: String {
        hasExpired
            ? "StoredCredential(session \(session), expired)"
            : "StoredCredential(session \(session), \(content.count) bytes, unanswered \(unanswered))"
    }
}

/// The fields of a ``StoredCredential`` as they are written, apart from the type: renaming a property must not change
/// what is stored, and numbers that could not be calculated with are not let in.
struct CredentialRecord: Codable {
    private let session: UUID
    private let number: Int
    /// Nil for 0, so that it is not written.
    private let renewals: Int?
    private let unanswered: Int
    /// Nil for false, so that it is not written.
    private let hasExpired: Bool?
    /// Nil for false, as before there was such a field.
    private let cameExpired: Bool?
    /// Written in base64: it may be of any kind, encrypted for one.
    private let credential: Data

    /// The most that is counted of anything: sums stay far from the largest number.
    private static let maxCount = Int(Int32.max)

    init(_ stored: StoredCredential) {
        session = stored.session
        number = min(max(1, stored.number), Self.maxCount)
        renewals = stored.renewals > 0 ? min(stored.renewals, Self.maxCount) : nil
        unanswered = min(max(0, stored.unanswered), Self.maxCount)
        hasExpired = stored.hasExpired ? true : nil
        cameExpired = stored.cameExpired ? true : nil
        credential = stored.content
    }

    /// Reads what was written, and refuses numbers out of range.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        session = try container.decode(UUID.self, forKey: .session)
        number = try container.decode(Int.self, forKey: .number)
        renewals = try container.decodeIfPresent(Int.self, forKey: .renewals)
        unanswered = try container.decode(Int.self, forKey: .unanswered)
        hasExpired = try container.decodeIfPresent(Bool.self, forKey: .hasExpired)
        cameExpired = try container.decodeIfPresent(Bool.self, forKey: .cameExpired)
        credential = try container.decode(Data.self, forKey: .credential)
        let counts = [unanswered, renewals ?? 0]
        guard counts.allSatisfy((0...Self.maxCount).contains), (1...Self.maxCount).contains(number) else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "out of range"))
        }
    }

    /// The record as the library uses it.
    var stored: StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            renewals: renewals ?? 0,
            content: credential,
            unanswered: unanswered,
            hasExpired: hasExpired ?? false,
            cameExpired: cameExpired ?? false
        )
    }
}
