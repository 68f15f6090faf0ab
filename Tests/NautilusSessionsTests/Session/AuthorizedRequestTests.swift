import Foundation
import Nautilus
import NautilusCaching
import NautilusSessions
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A request that carries a credential")
struct AuthorizedRequestTests {
    @Test(
        "a cache without accounts keeps nothing that was authorized, whatever the field is called",
        arguments: ["X-Api-Token", "X-Sid", "X-Ticket", "X-Access", "X-Customer", "?sid"]
    )
    func anonymousCache(name: String) async throws {
        try await TokenWorld.run { world in
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in
                    if name == "?sid" {
                        request.url = try #require(URL(string: request.url.absoluteString + "?sid=" + token.value))
                    } else {
                        request.header[HttpHeader.Name(name)] = token.value
                    }
                },
                refresh: { $0 }
            )
            world.server.transport.on(.get, "/notes") { request, _ in
                let token = request.header[HttpHeader.Name(name)] ?? request.url.query ?? ""
                return .reply(
                    header: ["Cache-Control": "max-age=60"],
                    text: token.replacingOccurrences(of: "sid=", with: "")
                )
            }
            let session = world.process(rules)
            let cache = HttpCache(wallClock: { world.date })
            let service = world.api.with {
                $0.interceptors = [cache]
                $0.retrierFactory = session.retrierFactory
            }
            try await session.signIn(world.server.signIn("anna", at: world.date))
            #expect(try await GetNotes().schedule(with: service) == "anna-1")
            try await session.signOut()
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(try await GetNotes().schedule(with: service) == "bert-1")
        }
    }

    @Test("an authorized request is not shared with the next user's call", arguments: ["X-Api-Token", "X-Sid"])
    func anonymousCoalescing(name: String) async throws {
        try await TokenWorld.run { world in
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header[HttpHeader.Name(name)] = token.value },
                refresh: { $0 }
            )
            world.server.transport.on(.get, "/notes") { request, _ in
                try await world.clock.sleep(for: .seconds(1))
                return .reply(text: request.header[HttpHeader.Name(name)] ?? "")
            }
            let session = world.process(rules)
            let coalescing = RequestCoalescing()
            let service = world.api.with {
                $0.interceptors = [coalescing]
                $0.retrierFactory = session.retrierFactory
            }
            try await session.signIn(world.server.signIn("anna", at: world.date))
            async let anna: String? = try? GetNotes().schedule(with: service)
            try await world.sleep(.milliseconds(200))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(try await GetNotes().schedule(with: service) == "bert-1")
            _ = await anna
        }
    }

    @Test("no second send follows a sign-out")
    func hedgeAfterSignOut() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/notes") { _, _ in
                try await world.clock.sleep(for: .seconds(5))
                return .reply(text: "late")
            }
            let service = world.api.with {
                $0.interceptors.append(
                    Hedging(after: .fixed(.seconds(1)), latencies: OriginLatencies(), budget: .unlimited)
                )
                $0.retrierFactory = session.authorization
            }
            async let response = GetNotes().response(with: service)
            try await world.sleep(.milliseconds(500))
            session.signOutNow()
            #expect(try await response.trace.attempts.last?.hedge == .notSent(.sessionOver))
            #expect(world.server.carried == ["anna-1"])
        }
    }

    @Test("a slow request is sent a second time over a store that can only be looked at by waiting, too")
    func hedgeOverStore() async throws {
        struct Slow: StoreInFront {
            let base: MemoryStore
        }
        try await TokenWorld.run { world in
            let session = world.process(store: Slow(base: world.store))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            world.server.transport.on(.get, "/notes") { _, _ in
                if world.server.carried.count == 1 { try await world.clock.sleep(for: .seconds(60)) }
                return .reply(text: "notes")
            }
            let service = world.api.with {
                $0.interceptors.append(
                    Hedging(after: .fixed(.seconds(1)), latencies: OriginLatencies(), budget: .unlimited)
                )
                $0.retrierFactory = session.authorization
            }
            let response = try await GetNotes().response(with: service)
            #expect(response.trace.attempts.last?.hedge == .sent(after: .seconds(1), winner: .second))
            #expect(world.server.carried == ["anna-1", "anna-1"])
        }
    }

    @Test("no redirect is followed after a sign-out")
    func redirectAfterSignOut() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport
                .on(.get, "/notes") { _, _ in
                    try await world.clock.sleep(for: .seconds(5))
                    return .status(302, header: ["Location": "/elsewhere"])
                }
                .on(.get, "/elsewhere", .reply(text: "anna's"))
            let service = world.api.with { $0.retrierFactory = session.authorization }
            async let call: String? = try? GetNotes().schedule(with: service)
            try await world.sleep(.milliseconds(500))
            session.signOutNow()
            _ = await call
            let sent = world.server.transport.attempts(at: .get, "/elsewhere").map { $0.header["X-Api-Token"] }
            #expect(sent == [])
        }
    }

    @Test(
        "a request that carries a credential shows nothing of its credential, whatever the field is called",
        arguments: ["X-Sid", "X-Customer"]
    )
    func redacted(name: String) async throws {
        try await TokenWorld.run { world in
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header[HttpHeader.Name(name)] = token.value },
                refresh: { $0 }
            )
            let session = try await world.signedIn("anna", rules)
            let seen = Locked<HttpRequest?>(nil)
            let transport = ScriptedTransport { request, _ in
                seen.withLock { $0 = request }
                return .reply(text: "ok")
            }
            let service = world.api.with {
                $0.retrierFactory = session.retrierFactory
                $0.transport = transport
            }
            _ = try await GetNotes().schedule(with: service)
            let request = try #require(seen.withLock { $0 })
            #expect(request.header[HttpHeader.Name(name)] == "anna-1")
            var text = "\(request) \(request.curlCommand())"
            dump(request, to: &text)
            #expect(!text.contains("anna-1"))
            #expect(request.curlCommand(showsSecrets: true).contains("anna-1"))
        }
    }
}
