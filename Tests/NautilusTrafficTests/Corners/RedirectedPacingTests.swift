import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Pacing: redirected requests", .endsInTime)
struct RedirectedPacingTests {
    /// The most starts within any second.
    static func most(_ starts: [Duration]) -> Int {
        let times = starts.sorted()
        return times.indices.map { first in times[first...].prefix { $0 - times[first] < .seconds(1) }.count }.max()
            ?? 0
    }

    @Test("the server sees at most five requests a second, even if it redirects them to a server that is down")
    func redirected() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.url.host == "down.example.com"
                    ? .fail(.cannotConnectToHost)
                    : .status(302, header: [.location: "https://down.example.com/things"])
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [
                    Pacing(rate: .requests(5, per: .seconds(1)), clock: clock, random: simulation.random)
                ],
                transport: transport,
                clock: clock
            )
            _ = await atOnce(30) { _ in await Ping.get.result(with: service) }
            return transport.attempts.filter { $0.request.url.host == "api.example.com" }.map(\.start)
        }
        #expect(Self.most(starts) <= 5)
    }

    @Test("a request that is redirected to a server that is down counts for the limits of the server that redirects")
    func redirectedLimits() async throws {
        let starts = try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                if request.url.path == "/first" { return .reply(header: ["RateLimit": "\"a\";r=5;t=50"], text: "ok") }
                return request.url.host == "down.example.com"
                    ? .fail(.cannotConnectToHost)
                    : .status(302, header: [.location: "https://down.example.com/things"])
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [Pacing(clock: clock, random: simulation.random)],
                transport: transport,
                clock: clock
            )
            _ = await Ping(route: ["first"]).result(with: service)
            _ = await atOnce(30) { _ in await Ping.get.result(with: service) }
            return transport.attempts.filter { $0.request.url.host == "api.example.com" }.dropFirst().map(\.start)
        }
        #expect(starts.filter { $0 < .seconds(50) }.count <= 5)
    }
}
