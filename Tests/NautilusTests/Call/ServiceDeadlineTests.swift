import Foundation
import Nautilus
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@Suite("The deadline of a service")
struct ServiceDeadlineTests {
    private struct Forwarding: HttpService {
        typealias RequestError = HttpError
        let forwarded: any HttpService
        var apiUrl: any UrlConvertible { forwarded.apiUrl }
        var configuration: ServiceConfiguration { forwarded.configuration }
    }

    private static let request = AnyRequest(.get, ["things"], as: String.self)

    /// How a call of a silent server ends, and when.
    private func end(
        of request: some Request<String>,
        deadline: Duration? = .seconds(2)
    ) async throws -> (kind: FailureKind?, time: Duration) {
        try await simulate { simulation in
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                transport: ScriptedTransport(.hang, clock: simulation.clock),
                clock: simulation.clock
            ).with { $0.deadline = deadline }
            let error = await request.result(with: Forwarding(forwarded: service)).error
            return (error?.kind, simulation.clock.now.offset)
        }
    }

    @Test("the deadline of a service ends the call of a request that declares none")
    func undeclared() async throws {
        let end = try await end(of: Self.request)
        #expect(end == (.deadline(.seconds(2)), .seconds(2)))
    }

    @Test("a service's deadline gives way to the request's own, and to a request's lack of one")
    func declared() async throws {
        let own = try await end(of: Self.request.with { $0.deadline = .seconds(5) })
        #expect(own == (.deadline(.seconds(5)), .seconds(5)))
        let none = try await end(of: Self.request.with { $0.deadline = nil })
        #expect(none == (.timeout(.seconds(60)), .seconds(60)))
    }

    @Test("a deadline of zero is refused before anything is sent")
    func zero() async throws {
        let end = try await end(of: Self.request, deadline: .zero)
        #expect(end == (.invalidRequest(.notPositive(parameter: "deadline")), .zero))
    }

    @Test("the deadline of a service does not end a download")
    func download() async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("file")
        try await simulate { simulation in
            let part = Data("part".utf8)
            let transport = ScriptedTransport(.chunks([part, part], pause: .seconds(5)), clock: simulation.clock)
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                transport: transport,
                clock: simulation.clock
            ).with { $0.deadline = .seconds(2) }
            _ = try await Self.request.download(to: target, with: service)
        }
        #expect(try Data(contentsOf: target).count == 8)
    }

    @Test("a service's deadline counts when diagnose() checks whether attempts fit")
    func diagnosis() {
        let service = AnyHttpService<HttpError>(apiUrl: "api.example.com", retrierFactory: BackoffRetrier.factory())
        let strict = service.with { $0.deadline = .seconds(90) }
        #expect(service.diagnose(Self.request).isEmpty)
        #expect(strict.diagnose(Self.request).contains { if case .attemptsDoNotFit = $0 { true } else { false } })
    }
}
