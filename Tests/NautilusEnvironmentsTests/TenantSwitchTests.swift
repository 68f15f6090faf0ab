import Foundation
import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A service with its own selection, changed by `with`")
struct TenantSwitchTests {
    /// A service that belongs to the tenant selected when a call begins; nil is the service itself.
    private struct Tenants: HttpService {
        let selected: Locked<String?>
        let transport: any HttpTransport
        var query = Locked("")

        private func service(of tenant: String) -> AnyHttpService<HttpError> {
            AnyHttpService(
                apiUrl: "\(tenant).test/v1\(query.withLock { $0 })",
                retrierFactory: TenantSwitchTests.authorization(tenant),
                transport: transport
            )
        }

        var apiUrl: any UrlConvertible { "own.test" }
        var retrierFactory: any RetrierFactory { TenantSwitchTests.authorization("own") }
        var configuration: ServiceConfiguration {
            selected.withLock { $0 }.map { service(of: $0).configuration } ?? ServiceConfiguration(reading: self)
        }
    }

    private static func authorization(_ token: String) -> AnyRetrierFactory {
        .authorizing(with: WrittenCredential { $0.header[.authorization] = token })
    }

    private let transport = ScriptedTransport(.status(204), afterLast: .repeat)
    private let selected = Locked<String?>("anna")

    private var tenants: Tenants { Tenants(selected: selected, transport: transport) }

    /// The hosts that were called, each with the token that it was sent.
    private var sent: [[String?]] { transport.attempts.map { [$0.request.url.host, $0.header[.authorization]] } }

    @Sendable private static func change(_ configuration: inout ServiceConfiguration) {
        configuration.retrierFactory = .composed(configuration.retrierFactory, .never)
    }

    private func call(_ services: [any HttpService], as tenant: String?) async {
        selected.withLock { $0 = tenant }
        for service in services { _ = try? await AnyRequest(.get, ["things"]).schedule(with: service) }
    }

    @Test("a tenant service changed by `with` sends no tenant's token to another, also within a switch")
    func hidden() async throws {
        let tenants = tenants
        let changed = [AnyHttpService(tenants), AnyHttpService(ServiceSwitch(1) { _ in tenants })].map {
            $0.with(Self.change)
        }
        for tenant in ["bert", nil, "anna"] { await call(changed, as: tenant) }
        let each = [["bert.test", "bert"], ["own.test", "own"], ["anna.test", "anna"]]
        #expect(sent == each.flatMap { [$0, $0] })
    }

    @Test("a change by `with` around a tenant service changes each tenant's own service")
    func typed() async throws {
        let (tenants, changes) = (tenants, Locked(0))
        let changed = ServiceSwitch(1) { _ in tenants }.with {
            changes.withLock { $0 += 1 }
            Self.change(&$0)
        }
        for tenant in ["anna", "bert", "anna", nil, "bert"] { await call([changed], as: tenant) }
        let hosts = [["anna.test", "anna"], ["bert.test", "bert"], ["anna.test", "anna"], ["own.test", "own"]]
        #expect(sent == hosts + [["bert.test", "bert"]])
        #expect(changes.withLock { $0 } == 5)
    }

    @Test("a tenant service changed by `with` reads unchanged properties anew for each call")
    func readAnew() async throws {
        struct Shared: HttpService {
            let selected: Locked<String?>
            let transport: any HttpTransport
            var apiUrl: any UrlConvertible { "own.test" }
            var configuration: ServiceConfiguration {
                let tenant = selected.withLock { $0 } ?? ""
                return AnyHttpService(
                    apiUrl: "api.test/v1?signature=\(tenant)",
                    retrierFactory: TenantSwitchTests.authorization(tenant),
                    transport: transport
                ).configuration
            }
        }
        let shared = Shared(selected: selected, transport: transport)
        let changed = ServiceSwitch(1) { _ in shared }.with { $0.timeout = .seconds(9) }
        for tenant in ["anna", "bert"] { await call([changed], as: tenant) }
        #expect(sent == [["api.test", "anna"], ["api.test", "bert"]])
        #expect(transport.attempts.map { $0.request.url.query } == ["signature=anna", "signature=bert"])
    }

    @Test("a call still belongs to the tenant whose URL has another query, such as a signature")
    func query() async throws {
        let tenants = tenants
        let changed = [AnyHttpService(tenants), AnyHttpService(ServiceSwitch(1) { _ in tenants })].map {
            $0.with(Self.change)
        }
        tenants.query.withLock { $0 = "?signature=2" }
        await call(changed, as: "anna")
        #expect(sent == [["anna.test", "anna"], ["anna.test", "anna"]])
    }

    @Test("a tenant service changed by `with` finishes a call where it began")
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
}
