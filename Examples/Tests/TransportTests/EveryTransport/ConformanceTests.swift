import Foundation
import Nautilus
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("The conformance of the transport", .timeLimit(.minutes(10)), .whereAvailable)
struct ConformanceTests {
    /// Names only: the origin is known once a server runs.
    private static let names = checks(origin: URL(fileURLWithPath: "/")).map(\.name)

    @Test(arguments: names)
    func conforms(_ name: String) async throws {
        let script = ConformanceScript()
        try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            for check in Self.checks(origin: server.url) where check.name == name { try await check.run() }
        }
    }

    private static func checks(origin: URL) -> [TransportConformance.Check] {
        TransportConformance.checks(
            of: { TransportUnderTest.make() },
            limitedBy: { TransportUnderTest.make(responseLimit: $0) },
            origin: origin
        )
    }
}
