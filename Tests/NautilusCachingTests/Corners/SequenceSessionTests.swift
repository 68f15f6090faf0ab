import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP
@testable import NautilusStreams

/// A session bounds everything that begins in it: pages, connections of a stream, what is asked again in the background.
@Suite("The session of a sequence of calls")
struct SequenceSessionTests {
    private static let firstPage = ScriptedReply.reply(text: #"{"numbers": [1], "next": "b"}"#)

    @Test("the second page is not read as the next user, prefetched or not", arguments: [false, true])
    func pages(isPrefetching: Bool) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let script = ScriptedTransport(Self.firstPage, .reply(text: #"{"numbers": [2]}"#))
            // A page ahead waits where users change.
            let service = world.service(script, interceptors: [Waiting(clock: simulation.clock)])
            var pages = CursorPages().pages(with: service, prefetching: isPrefetching).makeAsyncIterator()
            let first = try await pages.next()
            #expect(first?.body.numbers == [1])
            world.coordinator.signIn(Token(number: 2))
            let isOver = await isOfEndedSession { try await pages.next() }
            #expect(isOver)
            #expect(script.attempts.map { $0.header[.authorization] } == ["Bearer token-1"])
        }
    }

    @Test("the second page is not read as the next user after a first one that a hook had")
    func afterHook() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let script = ScriptedTransport(.reply(text: #"{"numbers": [2]}"#))
            let service = world.service(script, hook: FirstPageHook())
            var pages = CursorPages().pages(with: service).makeAsyncIterator()
            let first = try await pages.next()
            #expect(first?.body.numbers == [1])
            world.coordinator.signIn(Token(number: 2))
            let isOver = await isOfEndedSession { try await pages.next() }
            #expect(isOver)
            #expect(script.count == 0)
        }
    }

    @Test("the first user does not get a page that the cache has for the next user")
    func cached() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let user = Locked("bob")
            let accounts = CacheAccounts.separate { _ in user.withLock { $0 } }
            let cache = HttpCache(accounts: accounts, wallClock: { simulation.clock.date })
            let script = ScriptedTransport { request, _ in
                .reply(
                    header: ["Cache-Control": "max-age=100"],
                    text: request.url.query == nil ? #"{"numbers": [1], "next": "b"}"# : #"{"numbers": [2]}"#
                )
            }
            let service = world.service(script, interceptors: [cache])
            var numbers: [Int] = []
            for try await number in CursorPages().items(with: service) { numbers.append(number) }
            #expect(numbers == [1, 2])

            user.withLock { $0 = "alice" }
            world.coordinator.signIn(Token(number: 2))
            var pages = CursorPages().pages(with: service).makeAsyncIterator()
            _ = try await pages.next()
            user.withLock { $0 = "bob" }
            world.coordinator.signIn(Token(number: 1))
            let isOver = await isOfEndedSession { try await pages.next() }
            #expect(isOver)
            #expect(script.count == 3)
        }
    }

    @Test("the second page is the same user's after a refresh")
    func refreshed() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let script = ScriptedTransport(Self.firstPage, .status(401), .reply(text: #"{"numbers": [2]}"#))
            var numbers: [Int] = []
            for try await number in CursorPages().items(with: world.service(script)) { numbers.append(number) }
            #expect(numbers == [1, 2])
            let carried = script.attempts.map { $0.header[.authorization] }
            #expect(carried == ["Bearer token-1", "Bearer token-1", "Bearer token-11"])
        }
    }

    @Test("a list's next page is not fetched as the next user, if each user has a coordinator")
    func ownCoordinators() async throws {
        try await simulate { simulation in
            let (alice, bob) = (OneSessionWorld(simulation), OneSessionWorld(simulation))
            let current = Locked(alice.coordinator)
            let script = ScriptedTransport(Self.firstPage, .reply(text: #"{"numbers": [2]}"#))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: AnyRetrierFactory {
                    AuthorizationRetrier.factory(current.withLock { $0 }).create(for: Ping.get)
                },
                transport: script,
                clock: simulation.clock
            )
            var pages = CursorPages().pages(with: service).makeAsyncIterator()
            let first = try await pages.next()
            #expect(first?.body.numbers == [1])
            current.withLock { $0 = bob.coordinator }
            let isOver = await isOfEndedSession { try await pages.next() }
            #expect(isOver)
            #expect(script.count == 1)
        }
    }

    @Test("an anonymous event stream goes on when somebody signs in", arguments: [false, true])
    func anonymous(hasSignedOut: Bool) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, signedIn: hasSignedOut ? Token(number: 1) : nil)
            if hasSignedOut { world.coordinator.signOut() }
            let events = ScriptedReply.chunks(
                header: [.contentType: "text/event-stream"],
                [Data("data: 1\n\n".utf8), Data("data: 2\n\n".utf8)]
            )
            let script = ScriptedTransport(events, clock: simulation.clock)
            var stream = Ping.get.events(with: world.service(script).anonymous).makeAsyncIterator()
            let first = try await stream.next()
            world.coordinator.signIn(Token(number: 2))
            let second = try await stream.next()
            #expect([first?.data, second?.data] == ["1", "2"])
            #expect(script.attempts.map { $0.header[.authorization] } == [nil])
        }
    }

    @Test("a sequence of calls that nobody began gets no credential of the user who signs in")
    func nobody() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            world.coordinator.signOut()
            let script = ScriptedTransport(Self.firstPage, clock: simulation.clock)
            let service = world.service(script, hook: FirstPageHook())
            var pages = CursorPages().pages(with: service).makeAsyncIterator()
            _ = try await pages.next()
            world.coordinator.signIn(Token(number: 2))
            let isOver = await isOfEndedSession { try await pages.next() }
            #expect(isOver)
            #expect(script.count == 0)
        }
    }

    @Test("a sequence begun without a session, or in an earlier one, does not go on as the next user")
    func laterSession() async throws {
        try await simulate { simulation in
            let (alice, bob) = (OneSessionWorld(simulation), OneSessionWorld(simulation))
            for before in [[], [alice]] as [[OneSessionWorld]] {
                let current = Locked(before)
                let event = ScriptedReply.chunks(
                    header: ["Content-Type": "text/event-stream"],
                    [Data("id: a\ndata: 1\n\n".utf8)]
                )
                let script = ScriptedTransport(Self.firstPage, event, .reply(text: #"{"numbers": [2]}"#), event)
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: AnyRetrierFactory {
                        let users = current.withLock { $0 }.map { AuthorizationRetrier.factory($0.coordinator) }
                        return ComposedRetrier((users + [BackoffRetrier.factory()]).map { $0.create(for: Ping.get) })
                    },
                    transport: script,
                    clock: simulation.clock
                )
                var pages = CursorPages().pages(with: service).makeAsyncIterator()
                var stream = Ping.get.events(with: service).makeAsyncIterator()
                let (page, first) = (try await pages.next(), try await stream.next())
                #expect(page?.body.numbers == [1] && first?.data == "1")
                current.withLock { $0.append(bob) }
                let pagesAreOver = await isOfEndedSession { try await pages.next() }
                let streamIsOver = await isOfEndedSession { try await stream.next() }
                #expect(pagesAreOver && streamIsOver)
                #expect(script.count == 2)
            }
        }
    }

    @Test("an event stream does not connect again as the next user")
    func events() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let events = ScriptedReply.chunks(
                header: ["Content-Type": "text/event-stream"],
                [Data("id: a\ndata: 1\n\n".utf8)]
            )
            let script = ScriptedTransport(events, events)
            var stream = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            let first = try await stream.next()
            #expect(first?.data == "1")
            world.coordinator.signIn(Token(number: 2))
            let isOver = await isOfEndedSession { try await stream.next() }
            #expect(isOver)
            #expect(script.attempts.map { $0.header[.authorization] } == ["Bearer token-1"])
        }
    }

    @Test("an event stream that waits for its next event ends with its session", arguments: [false, true])
    func waitingEvents(isSignOut: Bool) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let event = Data("data: 1\n\n".utf8)
            let header: HttpHeader = ["Content-Type": "text/event-stream"]
            let script = ScriptedTransport(
                .chunks(header: header, [event, event], pause: .seconds(100)),
                clock: simulation.clock
            )
            var stream = Ping.get.events(with: world.service(script)).makeAsyncIterator()
            let first = try await stream.next()
            #expect(first?.data == "1")
            simulation.start {
                try? await simulation.clock.sleep(for: .seconds(10))
                if isSignOut { world.coordinator.signOut() } else { world.coordinator.signIn(Token(number: 2)) }
            }
            let isOver = await isOfEndedSession { try await stream.next() }
            #expect(isOver)
            #expect(simulation.clock.now.offset == .seconds(110))
            #expect(script.count == 1)
            let next = try await stream.next()
            #expect(next == nil)
        }
    }

    @Test("a stored page is not looked after in the background as the next user")
    func revalidation() async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation)
            let script = ScriptedTransport(
                .reply(header: ["Cache-Control": "max-age=1, stale-while-revalidate=100"], text: "a"),
                .reply(text: "b")
            )
            let cache = HttpCache(accounts: .separate { _ in "the same" }, wallClock: { simulation.clock.date })
            let waiting = Waiting(clock: simulation.clock)
            let service = world.service(script, interceptors: [cache, waiting])
            #expect(try await Ping.get.schedule(with: service) == "a")
            try await simulation.clock.sleep(for: .seconds(10))
            #expect(try await Ping.get.schedule(with: service) == "a")
            world.coordinator.signIn(Token(number: 2))
            try await simulation.clock.sleep(for: .seconds(10))
            #expect(script.attempts.map { $0.header[.authorization] } == ["Bearer token-1"])
        }
    }
}

private struct Waiting: CallInterceptor {
    let clock: any Clock<Duration>

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await clock.sleep(for: .seconds(1))
        return try await next(request)
    }
}

/// Has the first page, and no other.
private struct FirstPageHook: ServiceHook {
    func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
        guard let pages = request as? CursorPages, pages.cursor == nil else { return nil }
        return HttpResponse(status: 200, header: [:], body: NumberPage(numbers: [1], next: "b"))
            as? HttpResponse<R.Result>
    }
}
