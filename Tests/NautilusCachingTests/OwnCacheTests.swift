import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A custom cache, by the public API", .endsInTime)
struct OwnCacheTests {
    /// Keeps the last answer of each account, and no page that its request cannot read.
    private final class Shelf: CallInterceptor {
        let answers = Locked<[String: HttpResponse<Data>]>([:])
        let account: @Sendable () -> String

        init(account: @escaping @Sendable () -> String) { self.account = account }

        func account<R: Request>(of request: R) -> String? { account() }

        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            guard let owner = context.account else { return try await next(request) }
            if let known = answers.withLock({ $0[owner] }) { return known }
            let response = try await next(request)
            guard context.account == owner else { return response }
            answers.withLock { $0[owner] = response }
            return response
        }
    }

    /// An interceptor around another one.
    private struct Around: CallInterceptor {
        let base: any CallInterceptor

        func account<R: Request>(of request: R) -> String? { base.account(of: request) }
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
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

    @Test("each of two interceptors has the account that it names itself, in either order")
    func twoAccounts() async throws {
        let transport = ScriptedTransport(.reply(text: "one"), .reply(text: "two"))
        for isFirst in [true, false] {
            let (shelf, other) = (Shelf { "anna" }, Shelf { "bert" })
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                interceptors: isFirst ? [shelf, other] : [other, shelf],
                transport: transport
            )
            _ = try await Ping.get.schedule(with: service)
            #expect(shelf.answers.withLock { Array($0.keys) } == ["anna"])
            #expect(other.answers.withLock { Array($0.keys) } == ["bert"])
        }
    }

    @Test("a user who signs in while the call is bound leaves the call without an account")
    func whileBinding() async throws {
        let names = Locked(["anna", "bert"])
        let shelf = Shelf { names.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
        let transport = ScriptedTransport(.reply(text: "one"), .reply(text: "two"))
        let service = Self.service(shelf, transport)
        #expect(await outcome(of: Ping.get, with: service) == "one")
        #expect(shelf.answers.withLock { $0.isEmpty })
        #expect(await outcome(of: Ping.get, with: service) == "two")
        #expect(shelf.answers.withLock { Array($0.keys) } == ["bert"])
    }

    @Test("a test of an interceptor gives it the account")
    func account() throws {
        let origin = try #require(URL(string: "https://api.example.com").flatMap(HttpOrigin.init))
        let context = CallContext(serviceOrigin: origin, isAnonymous: true, account: "anna")
        #expect(context.account == "anna" && context.isAnonymous)
    }
}
