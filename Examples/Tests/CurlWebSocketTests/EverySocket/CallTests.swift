import Foundation
import Nautilus
import NautilusTesting
import NotesAPI
import Testing

@Suite("Sockets and the path of a call", .whereAvailable, .timeLimit(.minutes(10)))
struct CallTests {
    private let refreshes = Shared(0)

    private var coordinator: RefreshCoordinator<Token> {
        RefreshCoordinator(credential: Token.numbered(1), clock: ManualClock()) { [refreshes] _ in
            .numbered(
                refreshes.withLock {
                    $0 += 1
                    return $0 + 1
                }
            )
        }
    }

    @Test("50 sockets that are declined with 401 at once cause one refresh, and are all opened")
    func refresh() async throws {
        let all = Barrier(50)
        try await SocketServer.run { authorization, _ in
            guard authorization == "Bearer token-1" else { return .socket(Echo()) }
            await all.arrive()
            return .decline(401, ["WWW-Authenticate": "Bearer"])
        } whileOpen: { server in
            let service = ChatService(server.url, retrierFactory: AuthorizationRetrier.factory(coordinator))
            let answers = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let chat = try await Chat().schedule(with: service)
                        try await chat.send("\(number)")
                        var texts = chat.makeAsyncIterator()
                        return try await texts.next()
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(answers == Set((0..<50).map { "\($0)" }))
            #expect(refreshes.withLock { $0 } == 1)
            #expect(server.authorizations.filter { $0 == "Bearer token-1" }.count == 50)
            #expect(server.authorizations.filter { $0 == "Bearer token-2" }.count == 50)
        }
    }

    @Test("a 503 is tried again after its Retry-After, on the service's clock")
    func retryAfter() async throws {
        try await SocketServer.run { _, number in
            number == 1 ? .decline(503, ["Retry-After": "7"]) : .socket(Echo())
        } whileOpen: { server in
            let clock = ManualClock()
            let service = ChatService(server.url, retrierFactory: ChatService.backoff(.seconds(1)), clock: clock)
            let opening = Task { try await Chat().schedule(with: service) }
            // Before it comes the limit of the wait for the refusal's body, which ends as soon as that has come.
            while clock.sleeps.last != .seconds(7) || clock.sleeperCount != 1 { await Task.yield() }
            #expect(server.authorizations.count == 1)
            clock.advance(by: .seconds(7))
            try await opening.value.ping()
            #expect(server.authorizations.count == 2)
        }
    }

    @Test("a redirect is followed to the socket's place")
    func redirect() async throws {
        try await SocketServer.run { _, number in
            number == 1 ? .decline(307, ["Location": "/elsewhere"]) : .socket(Echo())
        } whileOpen: { server in
            try await Chat().schedule(with: ChatService(server.url)).ping()
            #expect(server.authorizations.count == 2)
        }
    }

    @Test("the credential is put on the request anew when a lost connection is replaced")
    func reconnect() async throws {
        try await SocketServer.run { authorization, number in
            switch (number, authorization) {
            case (1, _): .socket(Speech(messages: [.text("first"), .close(.goingAway)]))
            case (_, "Bearer token-1"): .decline(401, ["WWW-Authenticate": "Bearer"])
            default: .socket(Speech(messages: [.text("second")]))
            }
        } whileOpen: { server in
            let retrier = AnyRetrierFactory.composed(AuthorizationRetrier.factory(coordinator), ChatService.backoff())
            let chat = try await Chat().schedule(with: ChatService(server.url, retrierFactory: retrier))
            var texts = chat.makeAsyncIterator()
            #expect(try await texts.next() == "first")
            #expect(try await texts.next() == "second")
            #expect(server.authorizations == ["Bearer token-1", "Bearer token-1", "Bearer token-2"])
            #expect(refreshes.withLock { $0 } == 1)
        }
    }
}
