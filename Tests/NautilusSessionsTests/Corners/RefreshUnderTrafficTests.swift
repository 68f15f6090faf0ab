import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A refresh through a service with limits")
struct RefreshUnderTrafficTests {
    @Test("a refresh needs no slot of a limit, whose holders wait for it", arguments: [2, 6])
    func limited(calls: Int) async throws {
        try await TokenWorld.run { world in
            let limit = ConcurrencyLimit(1)
            let api = world.api.with { $0.interceptors = [limit] }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                refresh: { token in
                    ApiToken(
                        value: try await SendToken(token: token).schedule(with: api.anonymous),
                        expires: .distantFuture
                    )
                }
            )
            world.server.transport.on(.get, "/notes") { request, _ in
                let token = request.header["X-Api-Token"] ?? ""
                try await world.clock.sleep(for: .milliseconds(50))
                return token == "anna-2" ? .reply(text: token) : .status(401)
            }
            let session = try await world.signedIn("anna", rules)
            let service = api.with { $0.retrierFactory = session.retrierFactory }
            let start = world.date
            let tokens = await withTaskGroup(of: String.self) { group in
                for _ in 1...calls {
                    group.addTask {
                        do throws(HttpError) {
                            return try await GetNotes().schedule(with: service)
                        } catch {
                            return "\(error.kind) \(error.underlying.map { "\($0)" } ?? "")"
                        }
                    }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(world.date.timeIntervalSince(start) < 5, "\(world.date.timeIntervalSince(start)) s")
            #expect(tokens == Array(repeating: "anna-2", count: calls))
        }
    }

    @Test(
        "a call that waits for a refresh holds no slot of a limit, so that a sign-in has one",
        arguments: [true, false]
    )
    func signInDuringRefresh(byRequest: Bool) async throws {
        try await LoginWorld.run { world in
            world.server
                .on(.post, "/renew", .hang)
                .on(.post, "/login", .reply(text: #"{"access_token": "new"}"#))
                .on(.get, "/things", .status(401))
            let limit = ConcurrencyLimit(1)
            let service = world.service.with { $0.interceptors = [limit] }
            try await world.session.signIn(BearerToken(accessToken: "old", refreshToken: "spent"))
            let get = AnyRequest(.get, ["things"], as: String.self)
            async let rejected = get.result(with: service)
            try await world.sleep(.seconds(1))
            async let waiting = get.result(with: service)
            try await world.sleep(.seconds(1))
            let origin = try #require(world.server.attempts.first?.request.origin)
            #expect(limit.underWayCount(to: origin) == 0)
            let start = world.clock.now.offset
            let login = AnyRequest(.post, ["login"], as: BearerToken.self)
            if byRequest {
                try await world.session.signIn(by: login, with: service)
            } else {
                try await world.session.signIn { try await login.schedule(with: service.anonymous) }
            }
            #expect(world.clock.now.offset - start < .seconds(1))
            #expect(world.user == "new")
            #expect(await rejected.error?.isSuperseded == true)
            #expect(await waiting.error?.isSuperseded == true)
        }
    }

    @Test("twelve calls under a limit of six are served by one refresh")
    func limitedAsBrowsersAre() async throws {
        try await TokenWorld.run { world in
            let limit = ConcurrencyLimit(6)
            let api = world.api.with { $0.interceptors = [limit] }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                refresh: { token in
                    ApiToken(
                        value: try await SendToken(token: token).schedule(with: api.anonymous),
                        expires: .distantFuture
                    )
                }
            )
            world.server.transport.on(.get, "/notes") { request, _ in
                let token = request.header["X-Api-Token"] ?? ""
                try await world.clock.sleep(for: .milliseconds(50))
                return token == "anna-2" ? .reply(text: token) : .status(401)
            }
            // As an app has it: with the default limits.
            let session = world.process(rules, limits: RefreshLimits(timeLimit: .seconds(90)))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let service = api.with { $0.retrierFactory = session.retrierFactory }
            let start = world.date
            let served = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...12 {
                    group.addTask { (try? await GetNotes().schedule(with: service)) != nil }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(served == 12)
            #expect(world.date.timeIntervalSince(start) < 5, "\(world.date.timeIntervalSince(start)) s")
            #expect(world.server.refreshes == ["anna-1"])
        }
    }

    @Test("a refresh whose caller has left does not wait for the slot of the next call")
    func cancelledStarter() async throws {
        try await TokenWorld.run { world in
            let limit = ConcurrencyLimit(1)
            let api = world.api.with { $0.interceptors = [limit] }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
                refresh: { token in
                    ApiToken(
                        value: try await SendToken(token: token).schedule(with: api.anonymous),
                        expires: .distantFuture
                    )
                }
            )
            let session = try await world.signedIn("anna", rules)
            try await world.sleep(.seconds(3600))
            let service = api.with { $0.retrierFactory = session.retrierFactory }
            // Another process looks after the record for a second.
            let lock = try #require(world.store.lock(world.key))
            let start = world.date
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = await withTaskGroup(of: Void.self) { inner in
                        inner.addTask { _ = try? await GetNotes().schedule(with: service) }
                        try? await world.sleep(.milliseconds(500))
                        inner.cancelAll()
                    }
                }
                group.addTask {
                    try? await world.sleep(.milliseconds(100))
                    #expect((try? await GetNotes().schedule(with: service)) == "anna-2")
                }
                try? await world.sleep(.seconds(1))
                lock.unlock()
            }
            #expect(world.date.timeIntervalSince(start) < 5, "\(world.date.timeIntervalSince(start)) s")
        }
    }

    @Test("a refresh that a probe waits for goes out while the circuit is half open")
    func probe() async throws {
        try await TokenWorld.run { world in
            let breaker = CircuitBreaker(clock: world.clock, random: world.random)
            let api = world.api.with { $0.interceptors = [breaker] }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
                refresh: { token in
                    ApiToken(
                        value: try await SendToken(token: token).schedule(with: api.anonymous),
                        expires: .distantFuture
                    )
                }
            )
            let session = world.process(rules, limits: RefreshLimits(timeLimit: .seconds(90)))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            let service = api.with { $0.retrierFactory = session.authorization }
            world.server.transport.on(.get, "/prices") { _, _ in .status(503) }
            try await world.sleep(.seconds(3590))
            for _ in 1...200 { _ = try? await GetPrices().schedule(with: service.anonymous) }
            let origin = try #require(URL(string: "https://api.test").flatMap(HttpOrigin.init))
            #expect("\(breaker.state(of: origin))".contains("open"), "\(breaker.state(of: origin))")
            try await world.sleep(.seconds(70))
            let lock = try #require(world.store.lock(world.key))
            let start = world.date
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await session.credential() }
                group.addTask {
                    try? await world.sleep(.milliseconds(500))
                    let token = try? await GetNotes().schedule(with: service)
                    #expect(token == "anna-2")
                }
                try? await world.sleep(.seconds(1))
                lock.unlock()
            }
            #expect(world.date.timeIntervalSince(start) < 2, "\(world.date.timeIntervalSince(start)) s")
        }
    }
}
