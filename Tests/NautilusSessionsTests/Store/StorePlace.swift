import Foundation
import NautilusSessions

/// Where stores meet, in one test.
struct StorePlace: Sendable {
    /// A key that no other test uses.
    var key = CredentialKey(issuer: "https://as.example/\(UUID())", client: "notes", account: "anna")
    /// Another store at this place, as another process would open it.
    let store: @Sendable () -> any CredentialStore
    /// Puts bytes where a store keeps the credential of a key.
    let plant: @Sendable (Data, CredentialKey) async throws -> Void

    /// Makes it be in `state`.
    ///
    /// - Returns: The lock that another holds, in ``StoreState/locked``.
    func enter(_ state: StoreState) async throws -> (any CredentialLock)? {
        switch state {
        case .empty: break
        case .stored: try await store().save(.first, for: key)
        case .damaged: try await plant(bytes().dropLast(), key)
        case .foreign:
            try await plant(bytes(of: CredentialKey(issuer: key.issuer, client: "other")), key)
        case .newer: try await plant(Data(StoredText.newer.utf8), key)
        case .locked:
            try await store().save(.first, for: key)
            return try await store().lock(key)
        }
        return nil
    }

    private func bytes(of key: CredentialKey? = nil) throws -> Data {
        try CredentialFormat.encode(.first, for: key ?? self.key, place: "test")
    }
}

/// The states of a store's place.
enum StoreState: CaseIterable, Sendable {
    case empty, stored, damaged, foreign, newer, locked

    /// Whether others must have changed bytes for it.
    var isPlanted: Bool { [.damaged, .foreign, .newer].contains(self) }
}

extension StoredCredential {
    /// The credential that is stored before, and the one that is saved next.
    static let first = stored("first")
    static let second = stored("second")

    static func stored(_ token: String) -> StoredCredential {
        StoredCredential(session: UUID(), content: Data(token.utf8))
    }
}
