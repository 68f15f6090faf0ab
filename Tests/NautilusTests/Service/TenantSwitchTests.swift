import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("A service with a selection of its own that is changed by `with`")
struct TenantSwitchTests {
    /// A service that belongs to the tenant selected when a call begins; nil is the service itself.
    private struct Tenants: HttpService {
        let selected: Locked<String?>
        let transport: any HttpTransport
        var query = Locked("")

        private func service(of tenant: String) -> AnyHttpService<HttpError> {
            AnyHttpService(
                apiUrl: "\(tenant).test/v1\(query.withLock { $0 })",
                retrierFactory: AnyRetrierFactory { Stamp(token: tenant) },
                transport: transport
            )
        }

        var apiUrl: any UrlConvertible { "own.test" }
        var retrierFactory: any RetrierFactory { AnyRetrierFactory { Stamp(token: "own") } }
        var selectedService: AnyHttpService<HttpError>? { selected.withLock { $0 }.map(service) }
    }

    private struct Stamp: Retrier {
        let token: String

        mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
            httpRequest.header[.authorization] = token
        }

        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }

    private let transport = ScriptedTransport(.status(204), afterLast: .repeat)
    private let selected = Locked<String?>("anna")

    private var tenants: Tenants { Tenants(selected: selected, transport: transport) }

    /// The hosts that were called, each with the token that it was sent.
    private var sent: [[String?]] { transport.attempts.map { [$0.request.url.host, $0.header[.authorization]] } }

    @Sendable private static func change(_ configuration: inout ServiceConfiguration) {
        configuration.retrierFactory = ComposedRetrier.factory(configuration.retrierFactory, NilRetrier.factory())
    }

    private func call(_ services: [any HttpService], as tenant: String?) async {
        selected.withLock { $0 = tenant }
        for service in services { _ = try? await AnyRequest(.get, ["things"]).schedule(with: service) }
    }

    /// A switch whose environments have one service for each region.
    private struct Regional: ForwardingService {
        let sites: ServiceSwitch<Int, AnyHttpService<HttpError>>
        let selected: Locked<String?>

        var forwarded: any HttpService { sites }
        var selectedService: AnyHttpService<HttpError>? {
            guard let region = selected.withLock({ $0 }) else { return nil }
            return sites.selectedService.map { AnyHttpService(InRegion(base: $0, region: region)) }
        }
    }

    private struct InRegion: ForwardingService {
        let base: AnyHttpService<HttpError>
        let region: String

        var forwarded: any HttpService { base }
        var apiUrl: any UrlConvertible { "\(region).test" }
        var retrierFactory: any RetrierFactory { AnyRetrierFactory { [region] in Stamp(token: region) } }
    }

    /// The service, the service within a switch, and one around a switch.
    private var compositions: [AnyHttpService<HttpError>] {
        let (tenants, transport) = (tenants, transport)
        let sites = ServiceSwitch(1) { _ in AnyHttpService<HttpError>(apiUrl: "own.test", transport: transport) }
        return [
            AnyHttpService(tenants), AnyHttpService(ServiceSwitch(1) { _ in tenants }),
            AnyHttpService(Regional(sites: sites, selected: selected)),
        ]
    }

    @Test("sends no tenant's token to another, also within a switch")
    func hidden() async throws {
        let changed = compositions.map { $0.with(Self.change) }
        await call(changed, as: "bert")
        #expect(sent.isEmpty)
        await call(changed, as: "anna")
        #expect(sent == Array(repeating: ["anna.test", "anna"], count: 3))
    }

    @Test("sends nothing where something is selected, if it was read while nothing was")
    func unselected() async throws {
        selected.withLock { $0 = nil }
        let changed = compositions.prefix(2).map { $0.with(Self.change) }
        await call(changed, as: "bert")
        #expect(sent.isEmpty)
        await call(changed, as: nil)
        #expect(sent == [["own.test", "own"], ["own.test", "own"]])
    }

    @Test("changes each tenant's own service if the switch around it is changed")
    func typed() async throws {
        let (tenants, changes) = (tenants, Locked(0))
        let changed = ServiceSwitch(1) { _ in tenants }.with {
            changes.withLock { $0 += 1 }
            Self.change(&$0)
        }
        for tenant in ["anna", "bert", "anna", nil, "bert"] { await call([changed], as: tenant) }
        let hosts = [["anna.test", "anna"], ["bert.test", "bert"], ["anna.test", "anna"], ["own.test", "own"]]
        #expect(sent == hosts + [["bert.test", "bert"]])
        #expect(changes.withLock { $0 } == 3)
    }

    @Test("reads what is not changed anew for each call, also where tenants share a URL or its query changes")
    func readAnew() async throws {
        struct Shared: HttpService {
            let selected: Locked<String?>
            let transport: any HttpTransport
            var apiUrl: any UrlConvertible { "own.test" }
            var selectedService: AnyHttpService<HttpError>? {
                selected.withLock { $0 }.map { [transport] tenant in
                    AnyHttpService(
                        apiUrl: "api.test/v1?signature=\(tenant)",
                        retrierFactory: AnyRetrierFactory { Stamp(token: tenant) },
                        transport: transport
                    )
                }
            }
        }
        let shared = Shared(selected: selected, transport: transport)
        let changed = ServiceSwitch(1) { _ in shared }.with { $0.timeout = .seconds(9) }
        for tenant in ["anna", "bert"] { await call([changed], as: tenant) }
        #expect(sent == [["api.test", "anna"], ["api.test", "bert"]])
        #expect(transport.attempts.map { $0.request.url.query } == ["signature=anna", "signature=bert"])
    }

    @Test("still belongs to the tenant whose URL has another query, such as a signature")
    func query() async throws {
        let tenants = tenants
        let changed = [AnyHttpService(tenants), AnyHttpService(ServiceSwitch(1) { _ in tenants })].map {
            $0.with(Self.change)
        }
        tenants.query.withLock { $0 = "?signature=2" }
        await call(changed, as: "anna")
        #expect(sent == [["anna.test", "anna"], ["anna.test", "anna"]])
    }

    @Test("takes the security of no environment to another")
    func security() async throws {
        let transport = transport
        let sites = ServiceSwitch("local") { site in
            AnyHttpService<HttpError>(apiUrl: "\(site).test", transport: transport).with {
                $0.usesSecureProtocol = site != "local"
            }
        }
        let changed = AnyHttpService(sites).with { $0.usesSecureProtocol = $0.usesSecureProtocol }
        sites.select("production")
        await call([changed], as: nil)
        #expect(sent.isEmpty)
    }

    @Test("is answered by no other environment's hook, and refused before its own is asked")
    func hook() async throws {
        struct Answering: ServiceHook {
            let site: String
            let told: Locked<[String]>

            func onSchedule<R: Request>(_ request: R) async throws(HttpError) -> HttpResponse<R.Result>? {
                told.withLock { $0.append("\(site) asked") }
                return nil
            }

            func onFailure<R: Request>(_ request: R, error: HttpError) async {
                told.withLock { $0.append("\(site) failed") }
            }
        }
        let (transport, told) = (transport, Locked<[String]>([]))
        let sites = ServiceSwitch("staging") { site in
            AnyHttpService<HttpError>(apiUrl: "\(site).test", transport: transport).with {
                $0.hook = Answering(site: site, told: told)
            }
        }
        let changed = AnyHttpService(sites).with { $0.hook = ComposedServiceHook($0.hook) }
        sites.select("production")
        await call([changed], as: nil)
        #expect(sent.isEmpty)
        #expect(told.withLock { $0 } == ["production failed"])
    }

    @Test("finishes a call where it began")
    func finishes() async throws {
        let (selected, tenants) = (selected, tenants)
        let transport = ScriptedTransport { _, context in
            selected.withLock { $0 = "bert" }
            return .status(context.number == 1 ? 503 : 204)
        }
        let changed = AnyHttpService(ServiceSwitch(1) { _ in tenants }).with {
            $0.transport = transport
            $0.retrierFactory = BackoffRetrier.factory(.standard.with { $0.backoff = .constant(.zero) })
        }
        _ = try await AnyRequest(.get, ["things"]).schedule(with: changed)
        #expect(transport.attempts.map { $0.request.url.host } == ["anna.test", "anna.test"])
    }

    @Test("a sequence of calls stays in the environment in which it began, though another has the same URL")
    func sequence() async throws {
        let transport = transport
        let sites = ServiceSwitch("one") { site in
            AnyHttpService<HttpError>(apiUrl: "api.test", header: [.authorization: site], transport: transport)
        }
        let calls = CallSequence()
        _ = try await AnyRequest(.get, ["a"]).response(with: sites, in: calls)
        sites.select("two")
        let error = await #expect(throws: HttpError.self) {
            _ = try await AnyRequest(.get, ["b"]).response(with: sites, in: calls)
        }
        #expect(error?.description.contains("another environment at https://api.test") == true)
        sites.select("one")
        _ = try await AnyRequest(.get, ["c"]).response(with: sites.service, in: calls)
        #expect(sent == [["api.test", "one"], ["api.test", "one"]])
    }
}
