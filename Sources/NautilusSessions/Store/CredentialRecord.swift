import Foundation

/// The fields of a ``StoredCredential`` as they are written, apart from the type: renaming a property must not change
/// what is stored, and numbers that could not be calculated with are not let in.
struct CredentialRecord: Codable {
    private let session: UUID
    private let number: Int
    private let unanswered: Int
    /// Nil for false, so that it is not written.
    private let hasExpired: Bool?
    /// Written in base64: it may be of any kind, encrypted for one.
    private let credential: Data

    /// The most that is counted of anything: sums stay far from the largest number.
    private static let maxCount = Int(Int32.max)

    init(_ stored: StoredCredential) {
        session = stored.session
        number = min(max(1, stored.number), Self.maxCount)
        unanswered = min(max(0, stored.unanswered), Self.maxCount)
        hasExpired = stored.hasExpired ? true : nil
        credential = stored.content
    }

    /// Reads what was written, and refuses numbers out of range.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        session = try container.decode(UUID.self, forKey: .session)
        number = try container.decode(Int.self, forKey: .number)
        unanswered = try container.decode(Int.self, forKey: .unanswered)
        hasExpired = try container.decodeIfPresent(Bool.self, forKey: .hasExpired)
        credential = try container.decode(Data.self, forKey: .credential)
        guard (0...Self.maxCount).contains(unanswered), (1...Self.maxCount).contains(number) else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "out of range"))
        }
    }

    /// The record as the library uses it.
    var stored: StoredCredential {
        StoredCredential(
            session: session,
            number: number,
            content: credential,
            unanswered: unanswered,
            hasExpired: hasExpired ?? false
        )
    }
}
