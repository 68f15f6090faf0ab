import Foundation
import NautilusPages
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusSessions

@Suite("A call that is bound before this process has followed what is stored")
struct BoundElsewhereTests {
    private static func service(_ world: TokenWorld, _ session: Session<ApiToken>) -> AnyHttpService<HttpError> {
        world.api.with { $0.retrierFactory = session.authorization }
    }

    private static func error(_ work: () async throws -> Any?) async -> HttpError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? HttpError
        }
    }

    private static func isExpired(_ error: HttpError?) -> Bool {
        if case .sessionExpired? = error?.underlying as? RefreshError { true } else { false }
    }

    @Test("two calls bound before their process has followed the store go out as the stored user")
    func two() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            let service = Self.service(world, world.process())
            let (first, second) = (GetNotes().bound(to: service), GetNotes().bound(to: service))
            _ = try await first.run()
            _ = try await second.run()
            #expect(world.server.carried == ["anna-1", "anna-1"])
        }
    }

    @Test(
        "a call bound before its process has followed the store ends with a sign-out or another sign-in",
        arguments: [true, false]
    )
    func hereAtLaunch(signsOut: Bool) async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            let session = world.process()
            let call = GetNotes().bound(to: Self.service(world, session))
            if signsOut {
                session.signOutNow()
            } else {
                try await session.signIn(world.server.signIn("bert", at: world.date))
            }
            #expect(call.sessions.end?.requiresSignIn == signsOut)
            #expect(call.sessions.end?.isSuperseded == !signsOut)
            #expect(await Self.error { try await call.run() }?.isSuperseded == !signsOut)
        }
    }

    @Test("a bound call of a user who has come and gone elsewhere fails as signed out", arguments: [true, false])
    func comeAndGone(bindsAgain: Bool) async throws {
        try await TokenWorld.run { world in
            let (here, there) = (world.process(), world.process())
            try await here.restore()
            try await there.signIn(world.server.signIn("bert", at: world.date))
            let call = GetNotes().bound(to: Self.service(world, here))
            try await there.signOut()
            if bindsAgain { _ = GetNotes().bound(to: Self.service(world, here)) }
            #expect(await Self.error { try await call.run() }?.requiresSignIn == true)
            #expect(call.sessions.end?.requiresSignIn == true)
        }
    }

    @Test("a call bound before a sign-out elsewhere and here fails as signed out")
    func nobodys() async throws {
        try await TokenWorld.run { world in
            let (here, there) = (try await world.signedIn(), world.process())
            try await there.restore()
            try await there.signOut()
            let call = GetNotes().bound(to: Self.service(world, here))
            here.signOutNow()
            #expect(await Self.error { try await call.run() }?.requiresSignIn == true)
        }
    }

    @Test("a bound call of a session that the server has ended fails as expired, in every process")
    func expired() async throws {
        try await TokenWorld.run { world in
            let there = try await world.signedIn()
            world.server.endSessions()
            let here = world.process()
            for process in [there, there, here, here] {
                let error = await world.call(process).error
                #expect(Self.isExpired(error))
            }
        }
    }

    /// How the user leaves elsewhere.
    enum Leaving: CaseIterable, Sendable { case signOut, nextUser, expiry }

    @Test("a bound call that continues another ends as that call's session did", arguments: Leaving.allCases)
    func continued(leaving: Leaving) async throws {
        try await TokenWorld.run { world in
            let (there, here) = (try await world.signedIn(), world.process())
            world.server.transport.on(.get, "/lists/1") { request, _ in
                .json(ItemPage(items: ["1"], next: request.url.query == nil ? "2" : nil))
            }
            world.server.transport.on(.get, "/feeds/1") { _, _ in
                .chunks(header: [.contentType: "text/event-stream"], [Data("data: a\n\n".utf8)])
            }
            let service = world.api.with {
                $0.retrierFactory = here.retrierFactory(.standard.with { $0.budget = .unlimited })
            }
            var pages = ListItems(id: "1").pages(with: service).makeAsyncIterator()
            _ = try await pages.next()
            var events = Feed(id: "1").events(with: service).makeAsyncIterator()
            _ = try await events.next()
            switch leaving {
            case .signOut: try await there.signOut()
            case .nextUser: try await there.signIn(world.server.signIn("bert", at: world.date))
            case .expiry:
                world.server.endSessions()
                #expect(await world.call(there).token == nil)
            }
            let page = await Self.error { try await pages.next() }
            let event = await Self.error { try await events.next() }
            for error in [page, event] {
                #expect(error?.isSuperseded == (leaving == .nextUser))
                #expect(Self.isExpired(error) == (leaving == .expiry))
            }
        }
    }

    /// A store that cannot answer at once.
    private struct Slow: StoreInFront {
        let base: MemoryStore
    }

    @Test("a call carries the credentials of three sessions over stores that take a wait")
    func three() async throws {
        try await TokenWorld.run { world in
            var factories: [any RetrierFactory] = []
            for number in 1...3 {
                let session = Session<ApiToken>(
                    key: CredentialKey(issuer: "\(number)"),
                    rules: SessionRules(
                        authorize: { token, request in
                            request.header[HttpHeader.Name("X-Token-\(number)")] = token.value
                        },
                        refresh: { $0 }
                    ),
                    store: Slow(base: MemoryStore())
                )
                try await session.signIn(ApiToken(value: "\(number)", expires: world.date))
                factories.append(session.authorization)
            }
            let service = world.api.with { [factories] in
                $0.retrierFactory = .composed(factories[0], factories[1], factories[2])
            }
            #expect(await GetPrices().result(with: service).text == "anonymous")
            let header = world.server.transport.attempts.last?.header
            #expect((1...3).allSatisfy { header?[HttpHeader.Name("X-Token-\($0)")] == "\($0)" })
        }
    }

    @Test("a bound call that never runs keeps nothing of a dropped session alive")
    func dropped() async throws {
        try await TokenWorld.run { world in
            _ = try await world.signedIn()
            weak var shared: SharedCredential<ApiToken>?
            Self.bind(world) { shared = $0.shared }
            #expect(shared == nil)
        }
    }

    private static func bind(_ world: TokenWorld, _ note: (Session<ApiToken>) -> Void) {
        let session = world.process()
        note(session)
        _ = GetNotes().bound(to: service(world, session))
    }

    @Test("the wait for a connection ends as the session does", arguments: [true, false])
    func reconnection(signsOut: Bool) async throws {
        try await TokenWorld.run { world in
            let session = try await world.signedIn()
            let service = world.api.with {
                $0.retrierFactory = session.retrierFactory(
                    .standard.with {
                        $0.backoff = .constant(.seconds(20))
                        $0.budget = .unlimited
                    }
                )
            }
            var connections = StreamConnections(of: GetNotes(), with: service)
            _ = try await connections.open(GetNotes())
            BackgroundTask.start {
                try? await world.sleep(.seconds(1))
                if signsOut {
                    session.signOutNow()
                } else {
                    try? await session.signIn(world.server.signIn("bert", at: world.date))
                }
            }
            do throws(HttpError) {
                try await connections.waitForNext(after: HttpError(.transport(.networkConnectionLost), stage: .send))
                Issue.record("the session is over")
            } catch {
                #expect(error.requiresSignIn == signsOut && error.isSuperseded == !signsOut)
            }
        }
    }
}
