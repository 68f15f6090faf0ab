import Nautilus
import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@Suite("A service with another error")
struct MappedServiceTests {
    private struct Refused: Error, Equatable { let status: Int? }

    @Test("a service with another error throws that error, and is the same service otherwise")
    func mapped() async throws {
        let transport = ScriptedTransport(.status(503), .status(404))
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            header: ["X-App": "shop"],
            retrierFactory: BackoffRetrier.factory(.atOnce),
            transport: transport
        )
        .mappingErrors { Refused(status: $0.status) }
        await #expect(throws: Refused(status: 404)) { try await Ping.get.schedule(with: service) }
        #expect(transport.attempts.map { $0.header["X-App"] } == ["shop", "shop"])
        #expect(service.diagnose() == AnyHttpService(service).diagnose())
    }

    @Test("a service with another error has the last one given, follows a switch, and keeps calls in place")
    func switched() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(.status(503), .status(404), .status(404))
            let sites = ServiceSwitch("staging") {
                AnyHttpService(
                    apiUrl: "\($0).example.com",
                    retrierFactory: steadyBackoff(),
                    transport: transport,
                    clock: clock
                )
            }
            let service = sites.mappingErrors { _ in Refused(status: nil) }.mappingErrors { Refused(status: $0.status) }
            async let first = outcome(of: service)
            try await clock.sleep(for: .milliseconds(100))
            sites.select("production")
            #expect(await first == Refused(status: 404))
            #expect(await outcome(of: service) == Refused(status: 404))
            let hosts = transport.attempts.map(\.request.url.host)
            #expect(hosts == ["staging.example.com", "staging.example.com", "production.example.com"])
        }
    }

    private func outcome(of service: AnyHttpService<Refused>) async -> Refused? {
        do throws(Refused) {
            _ = try await Ping.get.schedule(with: service)
            return nil
        } catch {
            return error
        }
    }
}
