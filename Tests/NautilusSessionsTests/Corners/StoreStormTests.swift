import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("Users in a storm of a store that fails, hangs and does things late")
struct StoreStormTests {
    @Test("nobody goes out as somebody else, what was signed out stays so, and nobody is signed out by the store alone")
    func calls() async throws {
        try await Self.storm(of: .calls)
    }

    @Test("pages, feeds and web sockets belong to one user, also where they go on after an hour")
    func sequences() async throws {
        try await Self.storm(of: .sequences)
    }

    @Test(
        "calls belong to one user even while users change faster than the changes are stored",
        arguments: [true, false],
        [Duration.zero, .seconds(20)]
    )
    func changes(inOne: Bool, lag: Duration) async throws {
        try await Self.storm(of: .changes(inOne: inOne), lag: lag)
    }

    @Test(
        "calls belong to one user even if a read may show what was stored seconds before",
        arguments: [Duration.seconds(1), .seconds(20), .seconds(200)]
    )
    func lagging(lag: Duration) async throws {
        try await Self.storm(of: .calls, lag: lag)
    }

    private static func storm(of work: StoreStorm.Work, lag: Duration = .zero) async throws {
        try await forEachSeed(12) { seed in
            let findings = try await TokenWorld.run(seed: seed) { try await StoreStorm($0, work, lag: lag).findings() }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}
