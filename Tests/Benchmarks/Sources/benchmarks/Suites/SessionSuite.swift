import Foundation
import Nautilus
import NautilusOAuth

/// The cost to an attempt of a credential that other processes may have changed.
enum SessionSuite {
    static let all: [any Measurable] = [
        credential("a store in memory", MemoryStore()),
        credential("a store of files", FileStore(folder: folder)),
    ]

    private static let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("Nautilus-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")

    /// Removes what the store of files has written.
    static func cleanUp() {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func credential(_ name: String, _ store: any CredentialStore) -> Comparison {
        let server = AuthorizationServer(issuer: "https://id.example", tokenEndpoint: "https://id.example/token")
        let session = OAuthSession(
            endpoint: TokenEndpoint(server: server, client: OAuthClient(id: "app"), transport: InstantTransport()),
            store: store
        )
        return Comparison(
            group: "A session shared with other processes",
            name: "session.credential(), \(name)",
            metrics: [.cpu, .allocations],
            subject: Subject("credential") { count in
                if !session.isSignedIn { try await session.signIn(OAuthCredential(accessToken: "0123456789")) }
                for _ in 0..<count { _ = try await session.credential() }
            },
            baseline: stat
        )
    }

    /// The least that noticing another process costs.
    private static let stat = Subject("stat of a file") {
        var status = Foundation.stat()
        guard lstat("/tmp", &status) == 0 else { return }
    }
}
