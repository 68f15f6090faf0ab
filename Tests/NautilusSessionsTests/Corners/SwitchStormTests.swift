import Foundation
import Nautilus
import NautilusCaching
import NautilusEnvironments
import NautilusPages
import NautilusSessions
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@Suite("Two environments and their users in a storm of selections")
struct SwitchStormTests {
    @Test("each call, page and connection goes to the environment, and as the user, with which it began")
    func selections() async throws {
        try await forEachSeed(30) { seed in
            let findings = try await simulate(seed: seed) { try await SwitchStorm($0).findings() }
            #expect(findings.isEmpty, "seed \(seed): \(findings)")
        }
    }
}

/// A switch between two environments with sessions and caches of their own, while both have users who come and go.
private struct SwitchStorm: Sendable {
    private enum Site: String, CaseIterable, Sendable {
        case staging, production
        var host: String { "\(rawValue).test" }
    }

    private struct GetCall: Request, Hashable {
        typealias Result = String
        let id: String
        var route: HttpRoute { ["calls", id] }
    }

    private let simulation: Simulated
    private let sites: ServiceSwitch<Site, AnyHttpService<HttpError>>
    private let servers: [Site: TokenServer]
    private let sessions: [Site: Session<ApiToken>]
    private let books = Locked<(firsts: [String: String], complaints: [String])>(([:], []))

    init(_ simulation: Simulated) async throws {
        self.simulation = simulation
        let clock = simulation.clock
        let servers = Dictionary(uniqueKeysWithValues: Site.allCases.map { ($0, TokenServer(clock: clock)) })
        let sessions = servers.map { site, server in
            let api = AnyHttpService(apiUrl: site.host, transport: server.transport, clock: clock)
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                lifetime: { .seconds($0.expires.timeIntervalSince1970) - clock.now.offset },
                refresh: { token in
                    let value = try await SendToken(token: token).schedule(with: api)
                    return ApiToken(
                        value: value,
                        expires: Date(timeIntervalSince1970: clock.now.offset / .seconds(1) + 20)
                    )
                }
            )
            let store = UnrulyStore(MemoryStore(), clock, simulation.random)
            store.trouble(simulation.random.nextFraction() < 0.5)
            return (site, Session(key: CredentialKey(issuer: site.host), rules: rules, store: store, clock: clock))
        }
        self.servers = servers
        self.sessions = Dictionary(uniqueKeysWithValues: sessions)
        let cached = simulation.random.nextFraction() < 0.5
        sites = ServiceSwitch(Site.staging) { [sessions = self.sessions] site in
            guard let session = sessions[site], let server = servers[site] else { preconditionFailure("no such site") }
            let accounts = CacheAccounts.separate { _ in session.id?.uuidString }
            return AnyHttpService(
                apiUrl: site.host,
                interceptors: cached ? [HttpCache(accounts: accounts), RequestCoalescing(accounts: accounts)] : [],
                retrierFactory: session.retrierFactory(.atOnce),
                transport: server.transport,
                clock: clock
            )
        }
        for (site, server) in servers { serve(site, server) }
    }

    private func serve(_ site: Site, _ server: TokenServer) {
        server.grantGrace()
        server.transport
            .on(.get, "/calls/*") { request, _ in
                try await answer(request, at: site, server) { .reply(header: ["Cache-Control": "max-age=5"], text: $0) }
            }
            .on(.get, "/lists/*") { request, _ in
                let number =
                    request.url.query(percentEncoded: false).flatMap { Int($0.drop { $0 != "=" }.dropFirst()) } ?? 0
                return try await answer(request, at: site, server) {
                    .json(ItemPage(items: [$0], next: number < 3 ? "\(number + 1)" : nil))
                }
            }
            .on(.get, "/feeds/*") { request, _ in
                let number = request.header["Last-Event-ID"].flatMap { Int($0) } ?? 0
                if number == 3 { return .status(204) }
                return try await answer(request, at: site, server) {
                    .chunks(
                        header: [.contentType: "text/event-stream"],
                        [Data("id: \(number + 1)\ndata: \($0)\n\n".utf8)]
                    )
                }
            }
    }

    /// Answers with the environment and the user, unless the token is not good or the server has one of its moments.
    private func answer(
        _ request: HttpRequest,
        at site: Site,
        _ server: TokenServer,
        _ reply: @Sendable (String) -> ScriptedReply
    ) async throws -> ScriptedReply {
        let (id, token) = (request.url.lastPathComponent, request.header["X-Api-Token"] ?? "")
        let user = String(token.prefix { $0 != "-" })
        if request.url.host() != site.host || !user.hasPrefix(site.rawValue) {
            complain("\(site) got \(request.url.host() ?? "") as \(user)")
        }
        note(id, user)
        try await simulation.clock.sleep(for: .seconds(2) * simulation.random.nextFraction())
        guard server.accepts(token) else { return .status(401) }
        return simulation.random.nextFraction() < 0.2 ? .status(503) : reply(user)
    }

    /// A request or an answer of something that began as one user.
    private func note(_ id: String, _ user: String) {
        let first = books.withLock { books in
            books.firsts[id] = books.firsts[id] ?? user
            return books.firsts[id]
        }
        if first != user { complain("\(id) of \(first ?? "") goes on as \(user)") }
    }

    private func complain(_ text: String) { books.withLock { $0.complaints.append(text) } }

    func findings() async throws -> [String] {
        for site in Site.allCases { await signIn("\(site)0", at: site) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 { group.addTask { await work("\(number)") } }
            group.addTask { await change() }
            group.addTask {
                for _ in 0..<60 {
                    await pause(.seconds(10))
                    sites.select(sites.selected == .staging ? .production : .staging)
                }
            }
        }
        return books.withLock { $0.complaints }
    }

    private func pause(_ most: Duration) async {
        try? await simulation.clock.sleep(for: most * simulation.random.nextFraction())
    }

    private func signIn(_ user: String, at site: Site) async {
        guard let server = servers[site] else { return }
        var token = server.signIn(user, at: Date(timeIntervalSince1970: 0))
        token.expires = Date(timeIntervalSince1970: simulation.clock.now.offset / .seconds(1) + 20)
        try? await sessions[site]?.signIn(token)
    }

    private func change() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 1...12 {
                await pause(.seconds(50))
                let site: Site = simulation.random.nextFraction() < 0.5 ? .staging : .production
                let signsOut = simulation.random.nextFraction() < 0.3
                group.addTask {
                    if signsOut {
                        try? await sessions[site]?.signOut()
                    } else {
                        await signIn("\(site)\(number)", at: site)
                    }
                }
            }
        }
    }

    /// A call, a list or a feed, of the user and in the environment of its beginning.
    private func work(_ id: String) async {
        await pause(.seconds(300))
        let site = sites.selected
        if let user = sessions[site]?.current?.credential.value.prefix(while: { $0 != "-" }) { note(id, String(user)) }
        do throws(HttpError) {
            switch simulation.random.nextFraction() {
            case ..<0.3: note(id, try await GetCall(id: id).schedule(with: sites))
            case ..<0.5:
                let result = Locked<CallResult?>(nil)
                let (ended, end) = AsyncStream.makeStream(of: Never.self)
                GetCall(id: id).schedule(with: sites, on: nil) { outcome in
                    result.withLock { $0 = outcome }
                    end.finish()
                }
                // Selected before the call goes out.
                sites.select(site == .staging ? .production : .staging)
                for await _ in ended {}
                if let user = try result.withLock({ $0 })?.get() { note(id, user) }
            case ..<0.75:
                for try await user in ListItems(id: id).items(with: sites) {
                    note(id, user)
                    await pause(.seconds(20))
                }
            default:
                for try await event in Feed(id: id).events(with: sites) {
                    note(id, event.data)
                    await pause(.seconds(20))
                }
            }
        } catch {
            // A user has left, or the store is in trouble; a selection is no reason.
            if case .environmentChanged = error.kind { complain("\(id) has failed for a selection") }
        }
    }
}
