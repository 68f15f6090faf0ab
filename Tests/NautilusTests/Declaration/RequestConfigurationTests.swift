import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Requests with replaced properties")
struct RequestConfigurationTests {
    struct Plain: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var header: HttpHeader { ["X-A": "own", "X-B": "own"] }
    }

    private let transport = ScriptedTransport(.reply(status: 200, text: "ok"), afterLast: .repeat)
    private var service: AnyHttpService<HttpError> { AnyHttpService(apiUrl: "api.example.com", transport: transport) }

    @Test("`with` replaces the properties that are set, and keeps the request's others")
    func replaced() async throws {
        let request = Plain().with {
            #expect($0.timeout == .ofService && $0.priority == .normal && $0.allowsHedging && !$0.isAnonymous)
            $0.header = ["x-b": "mine"]
            $0.priority = .high
            $0.timeout = .seconds(3)
            $0.deadline = .seconds(30)
            $0.isAnonymous = true
            $0.allowsHedging = false
            $0.allowsBodyAcrossOrigins = false
        }
        #expect(try await request.schedule(with: service) == "ok")
        let attempt = try #require(transport.attempts.first)
        #expect((attempt.header["X-A"], attempt.header["X-B"]) == ("own", "mine"))
        #expect(attempt.request.priority == .high)
        #expect(attempt.context.timeout == .seconds(3))
        #expect(!attempt.request.allowsBodyAcrossOrigins)
        #expect((request.deadline, request.allowsHedging) == (.seconds(30), false))
        #expect(request.isAnonymous)
    }

    @Test("nil is set like any other value, and the last change counts")
    func twice() async throws {
        let request = Ping(timeout: .seconds(1), deadline: .seconds(10)).with {
            $0.timeout = nil
            $0.deadline = nil
        }
        #expect((request.timeout, request.deadline) == (nil, nil))
        let accepting = request.with { $0.acceptedStatusCodes = 404 }.with { $0.acceptedStatusCodes = [.success, 410] }
        #expect([200, 404, 410].map { accepting.acceptedStatusCodes.contains($0) } == [true, false, true])
    }

    @Test("the service's timeout is that of a request without one; a declared one, nil included, stays")
    func serviceTimeout() async throws {
        let ofMinute = service
        let quick = service.with { $0.timeout = .seconds(5) }
        let patient = service.with { $0.timeout = nil }
        for service in [ofMinute, quick, patient] {
            _ = try await Plain().schedule(with: service)
            _ = try await AnyRequest(.get, ["things"], as: String.self).schedule(with: service)
            _ = try await Ping(timeout: .seconds(60)).schedule(with: service)
            _ = try await Ping(timeout: nil).schedule(with: service)
        }
        let own: [Duration?] = [.seconds(60), nil]
        let expected: [Duration?] =
            [.seconds(60), .seconds(60)] + own + [.seconds(5), .seconds(5)] + own + [nil, nil] + own
        #expect(transport.attempts.map(\.context.timeout) == expected)
    }

    @Test("a timeout that is not positive is refused, a service's as well", arguments: [Duration.zero, .seconds(-1)])
    func notPositive(timeout: Duration) async throws {
        for (own, ofService) in [(timeout, Duration.seconds(60)), (.ofService, timeout)] {
            let hasty = service.with { $0.timeout = ofService }
            let error = await #expect(throws: HttpError.self) { try await Ping(timeout: own).schedule(with: hasty) }
            #expect(error?.kind == .invalidRequest(.notPositive(parameter: "timeout")))
        }
        #expect(transport.attempts.isEmpty)
    }

    @Test("a service with the configuration of another one is that one but for what it changes")
    func forwarding() async throws {
        struct Forwarding: HttpService {
            let base: AnyHttpService<HttpError>
            var apiUrl: any UrlConvertible { base.apiUrl }
            var configuration: ServiceConfiguration {
                var configuration = base.configuration
                configuration.header = ["X-A": "forwarding"]
                return configuration
            }
        }
        let base = service.with {
            $0.timeout = .seconds(5)
            $0.maxAttempts = 7
        }
        _ = try await Ping(timeout: .ofService).schedule(with: Forwarding(base: base))
        let attempt = try #require(transport.attempts.first)
        #expect(attempt.context.timeout == .seconds(5))
        #expect(attempt.header["X-A"] == "forwarding")
        #expect(Forwarding(base: base).configuration.maxAttempts == 7)
    }
}
