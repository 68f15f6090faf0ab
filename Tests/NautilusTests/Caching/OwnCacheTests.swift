import Foundation
import Nautilus
import NautilusTesting
import Testing

@Suite("A cache of one's own, made of what is public alone", .endsInTime)
struct OwnCacheTests {
    /// Keeps the last answer of each account, and no page that its request cannot read.
    private final class Shelf: CallInterceptor {
        let answers = Locked<[String: HttpResponse<Data>]>([:])
        let account: @Sendable () -> String

        init(account: @escaping @Sendable () -> String) { self.account = account }

        func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
            facts.note(account(), by: self)
        }

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            guard let owner = context.facts.fact(notedBy: self) as? String, owner == account() else {
                return try await next(request)
            }
            if let known = answers.withLock({ $0[owner] }) { return known }
            let response = try await next(request)
            guard case .taken = context.verdict(on: response), owner == account() else { return response }
            answers.withLock { $0[owner] = response }
            return response
        }
    }

    /// An interceptor around another one.
    private struct Around: CallInterceptor {
        let base: any CallInterceptor

        func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) { base.noteFacts(of: request, in: &facts) }
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await base.intercept(request, context: context, next: next)
        }
    }

    private static func service(
        _ interceptor: any HttpInterceptor,
        _ transport: ScriptedTransport,
        _ clock: ManualClock = ManualClock(),
        asyncHeader: @escaping @Sendable () async throws -> Void = {}
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [interceptor],
            transport: transport,
            clock: clock
        ).with {
            $0.asyncHeader = {
                try await asyncHeader()
                return [:]
            }
        }
    }

    @Test(
        "a call that has changed hands since it began leaves it nothing, and gets nothing of it",
        arguments: [false, true]
    )
    func changedHands(isWrapped: Bool) async throws {
        let (user, switches) = (Locked("anna"), Locked(true))
        let shelf = Shelf { user.withLock { $0 } }
        let transport = ScriptedTransport(.reply(text: "one"), .reply(text: "two"), .reply(text: "three"))
        let service = Self.service(isWrapped ? Around(base: shelf) : shelf, transport) {
            if switches.withLock({ $0 }) { user.withLock { $0 = "bert" } }
        }
        #expect(await outcome(of: Ping.get, with: service) == "one")
        #expect(shelf.answers.withLock { $0.isEmpty })
        switches.withLock { $0 = false }
        for _ in 1...2 { #expect(await outcome(of: Ping.get, with: service) == "two") }
        user.withLock { $0 = "anna" }
        switches.withLock { $0 = true }
        #expect(await outcome(of: Ping.get, with: service) == "three")
        #expect(shelf.answers.withLock { Array($0.keys) } == ["bert"])
    }

    @Test("an answer that the request rejects or cannot read is not kept", arguments: ["error:503", "error:404"])
    func verdict(text: String) async throws {
        let shelf = Shelf { "anna" }
        let transport = ScriptedTransport(.reply(text: text), .reply(text: "good"))
        let service = Self.service(shelf, transport)
        #expect(await outcome(of: WordedRequest(), with: service) == "status \(text.dropFirst(6))")
        for _ in 1...2 { #expect(await outcome(of: WordedRequest(), with: service) == "good") }
        #expect(transport.count == 2)
    }

    @Test("a test of an interceptor gives it the facts, and what is noted again takes the former's place")
    func facts() throws {
        let (shelf, other) = (Shelf { "anna" }, Shelf { "bert" })
        var facts = CallFacts()
        facts.note("carl", by: shelf)
        shelf.noteFacts(of: Ping.get, in: &facts)
        other.noteFacts(of: Ping.get, in: &facts)
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HttpOrigin.init))
        let context = AttemptContext(serviceOrigin: origin, facts: facts)
        #expect(context.facts.fact(notedBy: shelf) as? String == "anna")
        #expect(context.facts.fact(notedBy: other) as? String == "bert")
        #expect(context.facts.fact(notedBy: Counter()) == nil)
        #expect("\(facts)" == "2 facts")
        #expect(CallFacts.current == nil)
    }
}
