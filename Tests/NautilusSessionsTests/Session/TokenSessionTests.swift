import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A session of a token that is not OAuth")
struct TokenSessionTests {
    @Test("two processes whose token has expired refresh it once among both", arguments: 0..<20 as Range<UInt64>)
    func sharedRefresh(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3600))
            async let calls = [world.call(first), world.call(second), world.call(first), world.call(second)]
            #expect(await calls.map(\.token) == Array(repeating: "anna-2", count: 4))
            #expect(world.server.refreshes == ["anna-1"])
            #expect(try world.store.load(world.key)?.credential(as: ApiToken.self).value == "anna-2")
        }
    }

    @Test("a token refreshed by one process is found in files by the next one")
    func files() async throws {
        let folder = try TestFolder()
        let server = TokenServer(clock: ContinuousClock())
        let api = AnyHttpService(apiUrl: "api.test", transport: server.transport)
        let refreshes = Locked(0)
        let rules = SessionRules<ApiToken>(
            authorize: { token, request in request.header["X-Api-Token"] = token.value },
            lifetime: { .seconds($0.expires.timeIntervalSinceNow) },
            refresh: { token in
                refreshes.withLock { $0 += 1 }
                return ApiToken(value: token.value + "'", expires: .distantFuture)
            }
        )
        let key = CredentialKey(issuer: "api.test")
        let first = Session(key: key, rules: rules, store: FileStore(folder: folder.store))
        try await first.signIn(ApiToken(value: "anna", expires: .distantPast))
        for session in [first, Session(key: key, rules: rules, store: FileStore(folder: folder.store))] {
            let service = api.with { $0.retrierFactory = session.retrierFactory }
            #expect(try await GetPrices().schedule(with: service) == "anna'")
        }
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test("a record whose numbers are as large as there are is refreshed and replaced like any other")
    func largestNumbers() async throws {
        try await TokenWorld.run { world in
            let token = world.server.signIn("anna", at: world.date)
            let stored = try StoredCredential(session: UUID(), number: .max, credential: token, unanswered: .max)
            world.store.save(stored, for: world.key)
            let session = world.process()
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).token == "anna-2")
            for user in ["bert", "carl"] {
                try await session.signIn(world.server.signIn(user, at: world.date))
                #expect(await world.call(world.process()).token == "\(user)-1")
            }
        }
    }

    @Test("an unanswered revocation is given up after a minute, even if it ignores cancellation, and tried again")
    func hangingRevocation() async throws {
        try await TokenWorld.run { world in
            let starts = Locked<[Duration]>([])
            let watch = Stopwatch(world.clock)
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                revoke: { [clock = world.clock] _ in
                    let count = starts.withLock { starts in
                        starts.append(watch.elapsed)
                        return starts.count
                    }
                    guard count < 3 else { return }
                    await BackgroundTask.start { try? await clock.sleep(for: .seconds(10_000)) }.value
                },
                refresh: { $0 }
            )
            let session = try await world.signedIn("anna", rules)
            do throws(SessionError) {
                try await session.signOut()
                Issue.record("nothing is told")
            } catch {
                #expect(error.kind == .notRevoked)
            }
            #expect(watch.elapsed == .seconds(60))
            try await world.sleep(.seconds(3600))
            let times = starts.withLock { $0 }
            #expect(times.count == 3)
            #expect(times.last.map { $0 > .seconds(120) && $0 < .seconds(125) } == true)
        }
    }

    @Test("a rejected token is refreshed, and the call sent again")
    func rejected() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.transport.on(.get, "/notes") { request, _ in
                request.header["X-Api-Token"] == "anna-2" ? .reply(text: "ok") : .status(401)
            }
            #expect(await world.call(session).token == "ok")
            #expect(world.server.carried == ["anna-1", "anna-2"])
        }
    }

    @Test("a sign-out during a refresh wins: its result is dropped, and revoked", arguments: 0..<20 as Range<UInt64>)
    func signOutDuringRefresh(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            try await world.sleep(.seconds(3600))
            async let call = world.call(session)
            try await world.sleep(.milliseconds(50))
            try await session.signOut()
            let outcome = await call
            guard case .signedOut? = outcome.refreshError else { return #expect(Bool(false), "\(outcome)") }
            try await world.sleep(.seconds(60))
            #expect(!session.isSignedIn && world.store.load(world.key) == nil)
            #expect(try await world.process().restore() == false)
            #expect(world.server.carried == [])
            #expect(Set(world.server.revoked).isSubset(of: ["anna-1", "anna-2"]) && !world.server.revoked.isEmpty)
        }
    }

    @Test("a token whose answer was lost is sent again soon, and keeps its note until the server has answered")
    func lostAnswer() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            world.server.grantGrace()
            world.server.fail(.answerLost, .answerLost)
            try await world.sleep(.seconds(3600))
            guard case .failed? = await world.call(session).refreshError else {
                return #expect(Bool(false), "the call has not failed for now")
            }
            #expect(world.server.refreshes == ["anna-1", "anna-1"])
            #expect(session.isSignedIn)
            #expect(world.store.load(world.key)?.unanswered == 2)

            try await world.sleep(.seconds(60))
            #expect(await world.call(world.process()).token == "anna-2")
            #expect(world.store.load(world.key)?.unanswered == 0)
        }
    }

    @Test("a refresh that is refused with 401 ends the session in every process, and in none with 400, 403 or 503")
    func refused() async throws {
        try await TokenWorld.run { world in
            let (first, second) = (try await world.signedIn(), world.process())
            try await second.restore()
            try await world.sleep(.seconds(3600))
            for status in [400, 403, 503] {
                world.server.fail(.answered(.status(status)))
                guard case .failed? = await world.call(first).refreshError else {
                    return #expect(Bool(false), "\(status)")
                }
                #expect(first.isSignedIn && world.store.load(world.key)?.unanswered == 0)
                try await world.sleep(.seconds(60))
            }
            world.server.endSessions()
            guard case .sessionExpired? = await world.call(first).refreshError else {
                return #expect(Bool(false), "the session goes on")
            }
            #expect(await world.call(second).sessionKind == .expired)
            #expect(!first.isSignedIn && !second.isSignedIn)
            #expect(world.store.load(world.key)?.content == Data())
        }
    }

    @Test("a refresh that spends nothing leaves no note")
    func repeatable() async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn("anna", world.rules(spendsCredential: false))
            world.server.fail(.answerLost)
            try await world.sleep(.seconds(3600))
            guard case .failed? = await world.call(session).refreshError else {
                return #expect(Bool(false), "the call has not failed for now")
            }
            #expect(world.server.refreshes == ["anna-1"])
            #expect(world.store.load(world.key)?.unanswered == 0)
        }
    }

    @Test("a refresh through the session's own service fails at once, and ends nothing")
    func recursive() async throws {
        try await TokenWorld.run { world in
            let own = Locked<Session<ApiToken>?>(nil)
            let rules = SessionRules<ApiToken>(
                authorize: { _, _ in },
                refresh: { token in
                    guard let session = own.withLock({ $0 }) else { return token }
                    let service = world.api.with { $0.retrierFactory = session.authorization }
                    return ApiToken(value: try await GetPrices().schedule(with: service), expires: .distantFuture)
                }
            )
            let session = try await world.signedIn("anna", rules)
            own.withLock { $0 = session }
            world.server.endSessions()
            let start = world.clock.now
            guard case .recursive? = await world.call(session).refreshError else {
                return #expect(Bool(false), "the refresh has not failed as what it is")
            }
            #expect(world.clock.now == start && session.isSignedIn)
            own.withLock { $0 = nil }
        }
    }

    /// A token that is stored with less than it has: a date of whole seconds, and no note of its origin.
    private struct LossyToken: Codable, Equatable, Sendable {
        var value: String
        var received: Date
        var origin: String?

        init(value: String, received: Date, origin: String?) {
            (self.value, self.received, self.origin) = (value, received, origin)
        }

        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self).split(separator: " ")
            (value, received) = (String(text[0]), Date(timeIntervalSince1970: Double(text[1]) ?? 0))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("\(value) \(Int(received.timeIntervalSince1970))")
        }
    }

    @Test("a credential that is stored with less than it has is refreshed like any other")
    func lossy() async throws {
        try await TokenWorld.run { world in
            let refreshes = Locked(0)
            let session = Session<LossyToken>(
                key: world.key,
                rules: SessionRules(
                    authorize: { token, request in request.header["X-Api-Token"] = token.value },
                    refresh: { token in
                        refreshes.withLock { $0 += 1 }
                        return LossyToken(value: token.value + "'", received: world.date + 0.7, origin: "refresh")
                    }
                ),
                store: world.store,
                clock: world.clock,
                random: world.random
            )
            try await session.signIn(LossyToken(value: "a", received: world.date + 0.5, origin: "sign-in"))
            world.server.transport.on(.get, "/notes") { request, _ in
                request.header["X-Api-Token"] == "a''" ? .reply(text: "ok") : .status(401)
            }
            let service = world.api.with { $0.retrierFactory = session.authorization }
            // The first is refreshed once, and its new token rejected; the second is refreshed once more.
            await #expect(throws: HttpError.self) { try await GetNotes().schedule(with: service) }
            #expect(try await GetNotes().schedule(with: service) == "ok")
            #expect(refreshes.withLock { $0 } == 2)
        }
    }

    @Test("an insufficient credential fails the call as the session's rules say, without a refresh")
    func insufficiency() async throws {
        struct NeedsAdministrator: Error {}
        try await TokenWorld.run { world in
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                insufficiency: { $0.status == 403 ? NeedsAdministrator() : nil },
                refresh: { $0 }
            )
            let session = try await world.signedIn("anna", rules)
            world.server.transport.on(.get, "/notes", .status(403))
            guard case .failure(let error) = await world.call(session) else {
                return #expect(Bool(false), "the call has not failed")
            }
            #expect(error.kind == .authorization && error.underlying is NeedsAdministrator)
        }
    }
}
