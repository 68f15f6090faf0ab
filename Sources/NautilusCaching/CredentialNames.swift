import Nautilus

/// Which field names may stand for a credential, remembered: every request that a cache sees is asked, mostly with the
/// same few names, and looking for words in each costs more than everything else about a hit.
final class CredentialNames: Sendable {
    static let shared = CredentialNames()

    private let known = Locked(RecentlyUsed<HttpHeader.Name, Bool>(limit: 256))

    func contains(_ name: HttpHeader.Name) -> Bool {
        known.withLock { known in
            if let isSensitive = known.value(for: name) { return isSensitive }
            let isSensitive = name.isSensitive
            known.update(name, default: isSensitive) { $0 = isSensitive }
            return isSensitive
        }
    }
}

extension HttpRequest {
    /// Whether any field may be a secret.
    var hasCredential: Bool { header.fields.contains { CredentialNames.shared.contains($0.name) } }
}
