import Foundation

/// The fields of a ``StoredCredential`` as they are written, apart from the type: renaming a property must not change
/// what is stored, and numbers that could not be calculated with are not let in.
struct CredentialRecord: Codable {
    private let session: UUID
    private let number: Int
    private let unanswered: Int
    /// Nil for false, so that it is not written.
    private let hasExpired: Bool?
    private let accessToken: String
    private let refreshToken: String?
    private let tokenType: String
    private let scope: [String]?
    private let lifetime: Lifetime?
    /// Seconds since 2001, as `Date` counts them itself: any other count would be rounded.
    private let receivedAt: Double

    /// A `Duration`, whole; a single number would be rounded.
    private struct Lifetime: Codable {
        let seconds: Int64
        let attoseconds: Int64
    }

    /// The most that is counted of anything: sums stay far from the largest number.
    private static let maxCount = Int(Int32.max)

    init(_ stored: StoredCredential) {
        let credential = stored.credential
        session = stored.session
        number = min(max(1, stored.number), Self.maxCount)
        unanswered = min(max(0, stored.unanswered), Self.maxCount)
        hasExpired = stored.hasExpired ? true : nil
        accessToken = credential.accessToken
        refreshToken = credential.refreshToken
        tokenType = credential.tokenType
        scope = credential.scope?.tokens
        lifetime = credential.lifetime.map {
            Lifetime(seconds: $0.components.seconds, attoseconds: $0.components.attoseconds)
        }
        receivedAt = credential.receivedAt.timeIntervalSinceReferenceDate
    }

    /// Reads what was written, and refuses numbers out of range.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        session = try container.decode(UUID.self, forKey: .session)
        number = try container.decode(Int.self, forKey: .number)
        unanswered = try container.decode(Int.self, forKey: .unanswered)
        hasExpired = try container.decodeIfPresent(Bool.self, forKey: .hasExpired)
        accessToken = try container.decode(String.self, forKey: .accessToken)
        refreshToken = try container.decodeIfPresent(String.self, forKey: .refreshToken)
        tokenType = try container.decode(String.self, forKey: .tokenType)
        scope = try container.decodeIfPresent([String].self, forKey: .scope)
        lifetime = try container.decodeIfPresent(Lifetime.self, forKey: .lifetime)
        receivedAt = try container.decode(Double.self, forKey: .receivedAt)
        guard isInRange else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "out of range"))
        }
    }

    private var isInRange: Bool {
        guard (0...Self.maxCount).contains(unanswered), receivedAt.isFinite, (1...Self.maxCount).contains(number) else {
            return false
        }
        guard let lifetime else { return true }
        return (0...OAuthCredential.maxLifetime.components.seconds).contains(lifetime.seconds)
            && (0..<1_000_000_000_000_000_000).contains(lifetime.attoseconds)
    }

    /// The record as the library uses it.
    var stored: StoredCredential {
        let credential = OAuthCredential(
            accessToken: accessToken,
            refreshToken: refreshToken,
            tokenType: tokenType,
            scope: scope.map { OAuthScope($0) },
            lifetime: lifetime.map { Duration(secondsComponent: $0.seconds, attosecondsComponent: $0.attoseconds) },
            receivedAt: Date(timeIntervalSinceReferenceDate: receivedAt)
        )
        return StoredCredential(
            session: session,
            number: number,
            credential: credential,
            unanswered: unanswered,
            hasExpired: hasExpired ?? false
        )
    }
}
