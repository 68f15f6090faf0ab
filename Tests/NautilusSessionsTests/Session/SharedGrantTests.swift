import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusSessions

/// Of two credentials that the server forgets together, one may not be revoked while the other is in use.
@Suite("Credentials that are forgotten together")
struct SharedGrantTests {
    private struct Key: Codable, Equatable, Sendable {
        let value: String
        var family = ""
    }

    private func rules(_ authorize: @escaping @Sendable (Key, inout HttpRequest) throws -> Void) -> SessionRules<Key> {
        SessionRules(
            authorize: authorize,
            sharesGrant: { !$0.family.isEmpty && $0.family == $1.family },
            refresh: { $0 }
        )
    }

    @Test("related credentials authorize the same, or share a grant by the rules")
    func together() {
        let header = rules { $1.header["X-Key"] = $0.value }
        #expect(header.areForgottenTogether(Key(value: "a", family: "1"), Key(value: "a", family: "2")))
        #expect(header.areForgottenTogether(Key(value: "a", family: "1"), Key(value: "b", family: "1")))
        #expect(!header.areForgottenTogether(Key(value: "a"), Key(value: "b")))
        #expect(!rules { _, _ in }.areForgottenTogether(Key(value: "a"), Key(value: "b")))
        #expect(!rules { _, _ in throw CancellationError() }.areForgottenTogether(Key(value: "a"), Key(value: "b")))
    }

    @Test("credentials are not related by a constant field beside a key in the query")
    func query() {
        let rules = rules { key, request in
            request.header["X-Client"] = "notes"
            request.url.append(queryItems: [URLQueryItem(name: "key", value: key.value)])
        }
        #expect(rules.areForgottenTogether(Key(value: "a", family: "1"), Key(value: "a", family: "2")))
        #expect(!rules.areForgottenTogether(Key(value: "a"), Key(value: "b")))
    }
}
