import Foundation
import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A switch that is changed by `with`")
struct ChangedSwitchTests {
    private enum Site: String { case staging, production }

    /// Puts its site's name on requests, as an interceptor and as a retrier that authorizes do.
    private struct Marking: CallInterceptor, Retrier {
        let site: String

        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header["X-Interceptor"] = site
            return try await next(request)
        }

        var credentials: [any CallCredential] {
            [WrittenCredential { [site] in $0.header["X-Retrier"] = site }]
        }

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }

    private let transport = ScriptedTransport(.status(204), afterLast: .repeat)

    private func service(of site: Site) -> AnyHttpService<HttpError> {
        let marking = Marking(site: site.rawValue)
        return AnyHttpService(
            apiUrl: "\(site.rawValue).test",
            interceptors: [marking],
            retrierFactory: AnyRetrierFactory { marking },
            transport: transport
        )
    }

    private func sites() -> ServiceSwitch<Site, AnyHttpService<HttpError>> {
        ServiceSwitch(.staging) { [self] in service(of: $0) }
    }

    /// The hosts that were called, each with the marks on its request.
    private var sent: [[String?]] {
        transport.attempts.map { [$0.request.url.host, $0.header["X-Interceptor"], $0.header["X-Retrier"]] }
    }

    @Sendable private static func change(_ configuration: inout ServiceConfiguration) {
        configuration.interceptors.append(Passing())
        configuration.retrierFactory = .composed(configuration.retrierFactory, .never)
    }

    private struct Passing: CallInterceptor {
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            try await next(request)
        }
    }

    @Test("a switch that is changed by `with` changes each environment's own service, for each call")
    func eachEnvironment() async throws {
        let (sites, changes) = (sites(), Locked(0))
        let changed = sites.with {
            changes.withLock { $0 += 1 }
            Self.change(&$0)
        }
        for site in [Site.staging, .production, .staging, .production] {
            sites.select(site)
            _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        }
        let (staging, production) = (
            ["staging.test", "staging", "staging"], ["production.test", "production", "production"]
        )
        #expect(sent == [staging, production, staging, production])
        #expect(changes.withLock { $0 } == 4)
    }

    @Test("a switch changed by `with` changes the selected environment, also behind a hidden type or a shared URL")
    func hidden() async throws {
        let sites = sites()
        let sharing = ServiceSwitch(Site.staging) { [self] site in service(of: site).with { $0.apiUrl = "api.test" } }
        let changed = [AnyHttpService(sites).with { Self.change(&$0) }, AnyHttpService(sharing).with(Self.change)]
        for site in [Site.staging, .production] {
            sites.select(site)
            sharing.select(site)
            for service in changed { _ = try await AnyRequest(.get, ["things"]).schedule(with: service) }
        }
        #expect(
            sent == [
                ["staging.test", "staging", "staging"], ["api.test", "staging", "staging"],
                ["production.test", "production", "production"], ["api.test", "production", "production"],
            ]
        )
    }

    @Test("a switch that is changed by `with` reads one environment for a call, though another is selected meanwhile")
    func selectedMeanwhile() async throws {
        let sites = sites()
        let changed = AnyHttpService(sites).with {
            sites.select(.production)
            Self.change(&$0)
        }
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(sent == [["staging.test", "staging", "staging"]])
    }

    @Test("a switch that is changed by `with` follows environments that are switches themselves")
    func nested() async throws {
        let inner = sites()
        let outer = ServiceSwitch("anna") { user in inner.with { $0.header["X-User"] = user } }
        let changed = outer.with {
            Self.change(&$0)
            $0.header["X-More"] = "1"
        }
        for (user, site) in [("anna", Site.staging), ("bert", .staging), ("bert", .production), ("anna", .production)] {
            outer.select(user)
            inner.select(site)
            _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        }
        let (staging, production) = (
            ["staging.test", "staging", "staging"], ["production.test", "production", "production"]
        )
        #expect(sent == [staging, staging, production, production])
        #expect(transport.attempts.map { $0.header["X-User"] } == ["anna", "bert", "bert", "anna"])
    }

    @Test("a switch that is changed by `with` opens web sockets where it is selected")
    func sockets() async throws {
        let sockets = ScriptedWebSocketTransport(.accept { $0.close(.normalClosure) })
        let sites = ServiceSwitch(Site.staging) { [self] site in
            service(of: site).with {
                $0.apiUrl = "wss://\(site.rawValue).test"
                $0.webSocketTransport = sockets
            }
        }
        let changed = AnyHttpService(sites).with { Self.change(&$0) }
        sites.select(.production)
        _ = try await Listen().schedule(with: changed)
        #expect(sockets.requests.map(\.url.host) == ["production.test"])
    }

    private struct Listen: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { [] }
    }

    @Test("a switch that is changed by `with` can be changed once more, and shows nothing of its URL")
    func twice() async throws {
        let sites = sites()
        let changed = sites.with { Self.change(&$0) }.with { $0.header["X-More"] = "1" }
        sites.select(.production)
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(sent == [["production.test", "production", "production"]])
        #expect(transport.attempts.first?.header["X-More"] == "1")
        #expect("\(changed)".contains("production.test"))
    }
}
