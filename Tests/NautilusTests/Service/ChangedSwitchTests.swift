import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusStreams

@Suite("A switch that is changed by `with`")
struct ChangedSwitchTests {
    private enum Site: String { case staging, production }

    /// Puts its site's name on requests, as an interceptor and as a retrier that authorizes do.
    private struct Marking: HttpInterceptor, Retrier {
        let site: String

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            var request = request
            request.header["X-Interceptor"] = site
            return try await next(request)
        }

        mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
            httpRequest.header["X-Retrier"] = site
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
        configuration.retrierFactory = ComposedRetrier.factory(configuration.retrierFactory, NilRetrier.factory())
    }

    private struct Passing: HttpInterceptor {
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await next(request)
        }
    }

    @Test("changes each environment's own service, once")
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
        #expect(changes.withLock { $0 } == 2)
    }

    @Test("where its type is hidden, sends nothing but to where its values were read", arguments: [true, false])
    func hidden(isFinal: Bool) async throws {
        let sites = sites()
        let changed = AnyHttpService(sites).with { Self.change(&$0) }
        let unread = AnyHttpService(sites).with { $0.timeout = .seconds(5) }
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        sites.select(.production)
        let error = await #expect(throws: HttpError.self) {
            _ = try await AnyRequest(.get, ["things"]).schedule(with: isFinal ? changed.final : changed)
        }
        #expect(error?.description.contains("ServiceSwitch.with") == true)
        #expect(error?.delivery == .notSent)
        _ = try await AnyRequest(.get, ["things"]).schedule(with: unread)
        #expect(
            sent == [["staging.test", "staging", "staging"], ["production.test", "production", "production"]]
        )
    }

    @Test("where its type is hidden, tells environments apart that share a URL")
    func sameUrl() async throws {
        let sites = ServiceSwitch(Site.staging) { [self] site in service(of: site).with { $0.apiUrl = "api.test" } }
        let changed = AnyHttpService(sites).with { Self.change(&$0) }
        let observed = AnyHttpService(sites).with { $0.observer = $0.observer }
        sites.select(.production)
        for service in [changed, changed.signedOut, observed] {
            await #expect(throws: HttpError.self) { _ = try await AnyRequest(.get, ["things"]).schedule(with: service) }
        }
        #expect(transport.count == 0)
        sites.select(.staging)
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(sent == [["api.test", "staging", "staging"]])
    }

    @Test("where its type is hidden, reads one environment, though another is selected meanwhile")
    func selectedMeanwhile() async throws {
        let sites = sites()
        let changed = AnyHttpService(sites).with {
            sites.select(.production)
            Self.change(&$0)
        }
        await #expect(throws: HttpError.self) { _ = try await AnyRequest(.get, ["things"]).schedule(with: changed) }
        sites.select(.staging)
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(sent == [["staging.test", "staging", "staging"]])
    }

    @Test("tells environments apart that are switches themselves, and share one", arguments: [true, false])
    func nested(isHidden: Bool) async throws {
        let inner = sites()
        let outer = ServiceSwitch("anna") { user in inner.with { $0.header["X-User"] = user } }
        let change: @Sendable (inout ServiceConfiguration) -> Void = {
            Self.change(&$0)
            $0.header["X-More"] = "1"
        }
        let changed = isHidden ? AnyHttpService(outer).with { change(&$0) } : AnyHttpService(outer.with(change))
        for (user, site) in [("anna", Site.staging), ("bert", .staging), ("bert", .production), ("anna", .production)] {
            outer.select(user)
            inner.select(site)
            _ = try? await AnyRequest(.get, ["things"]).schedule(with: changed)
        }
        let (staging, production) = (
            ["staging.test", "staging", "staging"], ["production.test", "production", "production"]
        )
        #expect(sent == (isHidden ? [staging] : [staging, staging, production, production]))
        let users = transport.attempts.map { $0.header["X-User"] }
        #expect(users == (isHidden ? ["anna"] : ["anna", "bert", "bert", "anna"]))
    }

    @Test("where its type is hidden, opens no web socket elsewhere")
    func sockets() async throws {
        let sockets = ScriptedWebSocketTransport(.hang)
        let sites = ServiceSwitch(Site.staging) { [self] site in
            service(of: site).with {
                $0.apiUrl = "wss://\(site.rawValue).test"
                $0.webSocketTransport = sockets
            }
        }
        let changed = AnyHttpService(sites).with { Self.change(&$0) }
        sites.select(.production)
        let error = await #expect(throws: HttpError.self) { _ = try await Listen().schedule(with: changed) }
        #expect(error?.description.contains("ServiceSwitch.with") == true)
        #expect(sockets.requests.isEmpty)
    }

    private struct Listen: StreamRequest {
        typealias Message = String
        typealias Result = String
        var route: HttpRoute { [] }
    }

    @Test("can be changed once more, and shows nothing of its URL")
    func twice() async throws {
        let sites = sites()
        let changed = sites.with { Self.change(&$0) }.with { $0.header["X-More"] = "1" }
        sites.select(.production)
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(sent == [["production.test", "production", "production"]])
        #expect(transport.attempts.first?.header["X-More"] == "1")
        #expect("\(changed)".contains("production.test"))
    }

    @Test("pins nothing where nothing was read that belongs to an environment, or where the service only moves")
    func harmless() async throws {
        struct Moving: ForwardingService {
            let sites: ServiceSwitch<Site, AnyHttpService<HttpError>>
            var forwarded: any HttpService { sites.service }
            var selectedService: AnyHttpService<HttpError>? { nil }
        }
        let sites = sites()
        let limited = AnyHttpService(sites).with { $0.maxAttempts = min($0.maxAttempts, 3) }
        let moving = Moving(sites: sites).with { $0.interceptors.append(Passing()) }
        sites.select(.production)
        for service in [limited, moving] { _ = try await AnyRequest(.get, ["things"]).schedule(with: service) }
        #expect(sent.map(\.first) == ["production.test", "production.test"])
    }

    @Test("refuses elsewhere also if it is changed once more, where its type is hidden")
    func hiddenTwice() async throws {
        let sites = sites()
        let changed = AnyHttpService(sites).with { Self.change(&$0) }.with { $0.apiUrl = "proxy.test" }
        sites.select(.production)
        await #expect(throws: HttpError.self) { _ = try await AnyRequest(.get, ["things"]).schedule(with: changed) }
        #expect(transport.count == 0)
    }
}
