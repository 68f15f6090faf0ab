import Foundation
import NautilusEnvironments
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A switch of services")
struct ServiceSwitchTests {
    @Test("a switch turned at any step of a call leaves the call in the environment where it began")
    func call() async throws {
        let quiet = try await run(turningAt: 0) { try await Ping.get.schedule(with: $0) }
        #expect(quiet.ending == "ok")
        #expect(quiet.sent.count == 3)
        for step in 1...quiet.stepCount {
            let run = try await run(turningAt: step) { try await Ping.get.schedule(with: $0) }
            #expect(run == quiet, "step \(step)")
        }
    }

    @Test("a service switch fails a call with the error of the environment where it began")
    func failure() async throws {
        let ending = try await run(turningAt: 1, reply: { _, _ in .status(404) }) { service in
            do throws(SiteError) {
                return try await Ping.get.schedule(with: service)
            } catch {
                return error.site
            }
        }
        #expect(ending.ending == "staging")
    }

    @Test("a service switch leaves a list where its first page came from")
    func pages() async throws {
        let reply: Reply = { number, _ in
            let next = number == 3 ? #", "next": "b""# : ""
            return number < 3 ? Self.answer(number) : .reply(text: #"{"numbers": [1]\#(next)}"#)
        }
        try await expectOneSite(reply: reply) { service in
            var numbers: [Int] = []
            for try await number in CursorPages().items(with: service) { numbers.append(number) }
            return "\(numbers)"
        }
    }

    @Test("a service switch leaves an event stream where its first connection went")
    func events() async throws {
        let reply: Reply = { number, _ in
            number < 3
                ? Self.answer(number)
                : .reply(header: ["Content-Type": "text/event-stream"], text: "id: \(number)\ndata: a\n\n")
        }
        try await expectOneSite(reply: reply) { service in
            var ids: [String] = []
            for try await event in Ping.get.events(with: service) {
                ids.append(event.id)
                if ids.count == 2 { break }
            }
            return "\(ids)"
        }
    }

    @Test("a service switch leaves a download where it began")
    func download() async throws {
        let folder = try TemporaryFolder()
        try await expectOneSite { service in
            let target = folder.url.appendingPathComponent(UUID().uuidString)
            try await Ping.get.download(to: target, with: service)
            return try String(contentsOf: target, encoding: .utf8)
        }
    }

    @Test("a service switch leaves a web socket where it was opened, when its connection breaks as well")
    func webSocket() async throws {
        let opening = ScriptedWebSocketTransport.Opening.accept { socket in
            try await socket.send(.text("hello"))
            while true { _ = try await socket.receive() }
        }
        let broken = ScriptedWebSocketTransport.Opening.accept { socket in
            try await socket.send(.text("first"))
            socket.drop()
        }
        let transports = [
            Site.staging: ScriptedWebSocketTransport(broken, opening), .production: ScriptedWebSocketTransport(opening),
        ]
        let sites = ServiceSwitch(Site.staging) { site in
            AnyHttpService(
                apiUrl: site.rawValue,
                retrierFactory: BackoffRetrier.factory(.atOnce)
            ).with { $0.webSocketTransport = transports[site] ?? $0.webSocketTransport }
        }
        let chat = try await ChatStream().schedule(with: sites)
        sites.select(.production)
        var lines = chat.makeAsyncIterator()
        #expect(try await lines.next() == "first")
        #expect(try await lines.next() == "hello")
        #expect(transports[.staging]?.requests.count == 2)
        #expect(transports[.production]?.requests.count == 0)
    }

    @Test("a service switch is followed by services made of it: another header, an erased type, another switch")
    func derived() async throws {
        try await expectOneSite { service in
            let inner = AnyHttpService(service.with { $0.header = ["X-Own": "1"] })
            return try await Ping.get.schedule(with: ServiceSwitch("only") { _ in inner })
        }
    }

    @Test("a service switch takes later calls to the environment selected then, and signs nobody in there")
    func later() async throws {
        try await simulate { simulation in
            let steps = TurningEnvironment(turningAt: 0)
            let sites = steps.sites(simulation.clock)
            _ = try await Ping.get.schedule(with: sites)
            sites.select(.production)
            #expect(sites.selected == .production)
            _ = try await Ping.get.schedule(with: sites)
            sites.service(for: .staging).coordinator.signOut()
            _ = try await Ping.get.schedule(with: sites)
            sites.select(.staging)
            await #expect(throws: SiteError.self) { try await Ping.get.schedule(with: sites) }
            #expect(steps.seen.sent == ["staging token 1", "production token 1", "production token 1"])
            #expect(steps.seen.strays == [])
        }
    }

    @Test("a service switch makes each environment's service once, though a thousand need it at a time")
    func made() async throws {
        let makers = Counter()
        let sites = ServiceSwitch(Site.staging) { site in
            makers.increment()
            return Identified(site: site)
        }
        #expect(makers.value == 0)
        let identities = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<1000 { group.addTask { ObjectIdentifier(sites.service(for: .production).identity) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(identities.count == 1)
        let identity = sites.service.identity
        #expect(sites.service.identity === identity)
        #expect(sites.service(for: .production).identity !== identity)
    }

    @Test("a service switch keeps the first service, when one is needed while it is made")
    func madeTwice() {
        let inner = Locked<Identified?>(nil)
        let switches = Locked<ServiceSwitch<Site, Identified>?>(nil)
        let sites = ServiceSwitch(Site.staging) { site in
            let sites = switches.withLock { $0.take() }
            if let sites { inner.withLock { $0 = sites.service(for: site) } }
            return Identified(site: site)
        }
        switches.withLock { $0 = sites }
        let identity = sites.service.identity
        #expect(identity === inner.withLock { $0 }?.identity)
        #expect(sites.service.identity === identity)
    }

    /// Makes calls once for each step of them at which the switch may be turned: all is as if it were not.
    private func expectOneSite(
        reply: @escaping Reply = { number, _ in answer(number) },
        _ body: @escaping @Sendable (ServiceSwitch<Site, SiteService>) async throws -> String
    ) async throws {
        let quiet = try await run(turningAt: 0, reply: reply, body)
        #expect(quiet.stepCount > 0)
        for step in 1...quiet.stepCount {
            let run = try await run(turningAt: step, reply: reply, body)
            #expect(run == quiet, "step \(step)")
        }
    }

    private typealias Reply = @Sendable (Int, HttpRequest) -> ScriptedReply

    /// A token that is refreshed, an outage that passes, and the answer.
    private static func answer(_ number: Int) -> ScriptedReply {
        [.status(401), .status(503), .reply(text: "ok")][min(number, 3) - 1]
    }

    private func run(
        turningAt step: Int,
        reply: @escaping Reply = { number, _ in answer(number) },
        _ body: @escaping @Sendable (ServiceSwitch<Site, SiteService>) async throws -> String
    ) async throws -> TurningEnvironment.Seen {
        try await simulate { simulation in
            let steps = TurningEnvironment(turningAt: step)
            let ending = try await body(steps.sites(simulation.clock, reply))
            var seen = steps.seen
            seen.ending = ending
            return seen
        }
    }
}

private enum Site: String, Sendable { case staging, production }

private struct SiteError: Error {
    let site: String
}

extension TurningEnvironment {
    /// A switch between two environments, which is turned when this changes.
    fileprivate func sites(
        _ clock: ManualClock,
        _ reply: @escaping @Sendable (Int, HttpRequest) -> ScriptedReply = { _, _ in .reply(text: "ok") }
    ) -> ServiceSwitch<Site, SiteService> {
        let sites = ServiceSwitch(Site.staging) { SiteService($0, steps: self, clock: clock, reply: reply) }
        onTurn { [weak sites] in sites?.select(.production) }
        return sites
    }
}

private struct SiteService: HttpService {
    let site: Site
    let steps: TurningEnvironment
    let clock: any Clock<Duration>
    let coordinator: RefreshCoordinator<String>
    private let script: ScriptedTransport

    init(
        _ site: Site,
        steps: TurningEnvironment,
        clock: ManualClock,
        reply: @escaping @Sendable (Int, HttpRequest) -> ScriptedReply
    ) {
        (self.site, self.steps, self.clock) = (site, steps, clock)
        coordinator = RefreshCoordinator(credential: "\(site) token 1", clock: clock) { _ in
            steps.step()
            await Task.yield()
            return "\(site) token 2"
        }
        script = ScriptedTransport { request, _ in
            defer { steps.step() }
            let (host, token) = (request.url.host, request.header[.authorization] ?? "")
            let names = [host, request.header["X-Site"], token.split(separator: " ").first.map(String.init)]
            return reply(steps.arrived(token, at: site.rawValue, with: names), request)
        }
    }

    var apiUrl: any UrlConvertible { stepping(site.rawValue) }
    var header: HttpHeader { stepping(["X-Site": site.rawValue]) }
    var transport: any HttpTransport { stepping(script) }
    var asyncHeader: HttpHeader {
        get async throws {
            await Task.yield()
            return stepping([:])
        }
    }
    var retrierFactory: any RetrierFactory {
        stepping(
            .composed(
                coordinator.authorization { $1.header[.authorization] = $0 },
                BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .constant(.seconds(1))
                        $0.budget = .unlimited
                    }
                )
            )
        )
    }

    func mapError(_ error: HttpError) -> SiteError { SiteError(site: site.rawValue) }

    private func stepping<Value>(_ value: Value) -> Value {
        steps.step()
        return value
    }
}

private struct Identified: HttpService {
    final class Identity: Sendable {}

    let site: Site
    let identity = Identity()
    var apiUrl: any UrlConvertible { site.rawValue }
}
