import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

struct StreamPost: Request {
    typealias Result = String
    var method: HttpMethod { .post }
    var route: HttpRoute { ["things"] }
    var body: HttpBody {
        .stream {
            AsyncStream {
                $0.yield(Data("payload".utf8)); $0.finish()
            }
        }
    }
}

struct Rpc: Request {
    typealias Result = String
    var method: HttpMethod { .post }
    var route: HttpRoute { ["rpc"] }
    var query: HttpQuery { ["action": "charge"] }
    var header: HttpHeader { ["Idempotency-Key": "order-1"] }
}

/// A server that honours keys, as the draft has it: the same key again is answered with the first result.
final class KeyedServer: Sendable {
    let executed = Locked<[String]>([])
    private let results = Locked<[String: String]>([:])

    /// Executes a request, which is recorded under `name`.
    func answer(_ key: String?, _ name: String) -> String {
        if let key, let known = results.withLock({ $0[key] }) { return known }
        executed.withLock { $0.append(name) }
        if let key { results.withLock { $0[key] = name } }
        return name
    }
}

@Suite("Idempotency keys of changed requests")
struct SentKeyTests {
    @Test("an order without a key never gets the key of a helper that was made by changing it")
    func helperKeyOnOrder() async throws {
        let server = KeyedServer()
        let helping = ClosureInterceptor { request, _, next in
            var helper = request
            helper.body = .data(Data("helper".utf8))
            helper.header[.idempotencyKey] = "helper-1"
            _ = try await next(helper)
            return try await next(request)
        }
        let transport = ScriptedTransport { request, _ in
            guard case .data(let body) = request.body else { return .status(400) }
            return .reply(text: server.answer(request.header[.idempotencyKey], String(decoding: body, as: UTF8.self)))
        }
        let outcome = try await outcome(of: Ping.post, interceptors: [helping], transport)
        #expect(transport.attempts.map { $0.request.header[.idempotencyKey] } == ["helper-1", nil])
        #expect(outcome.response?.body == "payload")
        #expect(server.executed.withLock { $0 } == ["helper", "payload"])
    }

    @Test("an order keeps its own key beside a helper with the same path, another query, and no body either")
    func rpc() async throws {
        let server = KeyedServer()
        let helping = ClosureInterceptor { request, _, next in
            var helper = HttpRequest(method: .post, url: .literal("https://api.example.com/rpc?action=token"))
            helper.header[.idempotencyKey] = "helper-1"
            _ = try await next(helper)
            return try await next(request)
        }
        let transport = ScriptedTransport { request, _ in
            .reply(text: server.answer(request.header[.idempotencyKey], request.url.query ?? ""))
        }
        let outcome = try await outcome(of: Rpc(), interceptors: [helping], transport)
        #expect(transport.attempts.map { $0.request.header[.idempotencyKey] } == ["helper-1", "order-1"])
        #expect(outcome.response?.body == "action=charge")
        #expect(server.executed.withLock { $0 } == ["action=token", "action=charge"])
    }

    @Test("an order and a helper with the same path get two drawn keys, even if the helper comes first")
    func rpcDrawn() async throws {
        struct Unkeyed: Request {
            typealias Result = String
            var method: HttpMethod { .post }
            var route: HttpRoute { ["rpc"] }
            var query: HttpQuery { ["action": "charge"] }
        }
        let server = KeyedServer()
        let helping = ClosureInterceptor { request, _, next in
            _ = try await next(HttpRequest(method: .post, url: .literal("https://api.example.com/rpc?action=token")))
            return try await next(request)
        }
        let drawn = Counter()
        let transport = ScriptedTransport { request, _ in
            .reply(text: server.answer(request.header[.idempotencyKey], request.url.query ?? ""))
        }
        let outcome = try await outcome(
            of: Unkeyed(),
            interceptors: [helping, IdempotencyKeys { "key-\(drawn.increment())" }],
            transport
        )
        #expect(outcome.response?.body == "action=charge")
        #expect(server.executed.withLock { $0 } == ["action=token", "action=charge"])
    }

    @Test("a helper that was made of the order without its key does not get it")
    func stripped() async throws {
        let server = KeyedServer()
        let helping = ClosureInterceptor { request, _, next in
            var helper = request
            helper.body = .data(Data("helper".utf8))
            helper.header[.idempotencyKey] = nil
            _ = try await next(helper)
            return try await next(request)
        }
        let transport = ScriptedTransport { request, _ in
            guard case .data(let body) = request.body else { return .status(400) }
            return .reply(text: server.answer(request.header[.idempotencyKey], String(decoding: body, as: UTF8.self)))
        }
        let outcome = try await outcome(of: Ping.keyedPost, interceptors: [helping], transport)
        #expect(outcome.response?.body == "payload")
        #expect(server.executed.withLock { $0 } == ["helper", "payload"])
    }

    @Test("an order whose key and body change together in each attempt is not sent twice under two keys")
    func changedTogether() async throws {
        let drawn = Counter()
        let sealing = ClosureInterceptor { request, _, next in
            var sealed = request
            sealed.body = .data(Data("sealed".utf8))
            sealed.header[.idempotencyKey] = "key-\(drawn.increment())"
            return try await next(sealed)
        }
        let transport = ScriptedTransport(.status(500), .status(201))
        let outcome = try await outcome(of: Ping.post, interceptors: [sealing], transport)
        #expect(outcome.error?.kind == .status(500))
        #expect(transport.count == 1)
    }

    private static func drawing(_ drawn: Counter) -> ClosureInterceptor {
        ClosureInterceptor { request, _, next in
            var request = request
            request.header[.idempotencyKey] = "key-\(drawn.increment())"
            return try await next(request)
        }
    }

    @Test("a POST with a stream for a body keeps the key that an interceptor draws anew on each attempt")
    func streamDrawn() async throws {
        let server = KeyedServer()
        let transport = ScriptedTransport { request, context in
            _ = server.answer(request.header[.idempotencyKey], "order")
            return context.number == 1 ? .fail(.networkConnectionLost) : .reply(text: "ok")
        }
        let outcome = try await outcome(of: StreamPost(), interceptors: [Self.drawing(Counter())], transport)
        #expect(outcome.response?.body == "ok")
        #expect(transport.attempts.map { $0.request.header[.idempotencyKey] } == ["key-1", "key-1"])
        #expect(server.executed.withLock { $0 } == ["order"])
    }

    @Test("a key that is drawn anew for each attempt is the first one already where interceptors see it")
    func seen() async throws {
        let (drawn, seen) = (Counter(), Locked<[String?]>([]))
        let looking = OwnNetworkInterceptor { request, _, next in
            seen.withLock { $0.append(request.header[.idempotencyKey]) }
            return try await next(request)
        }
        let transport = ScriptedTransport(.fail(.networkConnectionLost), .reply(text: "ok"))
        let outcome = try await outcome(
            of: Ping.post,
            interceptors: [looking],
            header: { ["Idempotency-Key": "key-\(drawn.increment())"] },
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(seen.withLock { $0 } == ["key-1", "key-1"])
        #expect(transport.attempts.map { $0.request.header[.idempotencyKey] } == ["key-1", "key-1"])
    }

    @Test("a request whose body an interceptor changes on each attempt keeps its idempotency key")
    func packedAnew() async throws {
        let server = KeyedServer()
        let packed = Counter()
        let packing = ClosureInterceptor { request, _, next in
            var request = request
            request.body = .data(Data("packed \(packed.increment())".utf8))
            return try await next(request)
        }
        let transport = ScriptedTransport { request, context in
            _ = server.answer(request.header[.idempotencyKey], "order")
            return context.number == 1 ? .fail(.networkConnectionLost) : .reply(text: "ok")
        }
        let outcome = try await outcome(of: Ping.post, interceptors: [Self.drawing(Counter()), packing], transport)
        #expect(outcome.response?.body == "ok")
        #expect(server.executed.withLock { $0 } == ["order"])
    }

    private static let prefixing = ClosureInterceptor { request, _, next in
        var request = request
        request.url = .literal("https://api.example.com/v2" + request.url.path + "?at=\(UUID())")
        return try await next(request)
    }

    @Test("an order whose path an interceptor prefixes, and signs, keeps its key: it is executed once")
    func prefixedKey() async throws {
        let server = KeyedServer()
        let drawn = Counter()
        let transport = ScriptedTransport { request, context in
            _ = server.answer(request.header[.idempotencyKey], "order")
            return context.number == 1 ? .fail(.networkConnectionLost) : .reply(text: "ok")
        }
        let outcome = try await outcome(
            of: Ping.post,
            interceptors: [IdempotencyKeys { "key-\(drawn.increment())" }, Self.prefixing],
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(transport.attempts.map { $0.request.header[.idempotencyKey] } == ["key-1", "key-1"])
        #expect(server.executed.withLock { $0 } == ["order"])
        #expect(outcome.trace.exchanges.map(\.role) == [.main, .main])
    }

    @Test("retries of a call whose path an interceptor prefixes are paid for")
    func prefixedPaid() async throws {
        let budget = TokenBucketBudget(depositOfSuccess: 0)
        let outcome = try await outcome(
            of: Ping.get,
            retrier: steadyBackoff(budget: .shared(budget)),
            interceptors: [Self.prefixing],
            ScriptedTransport(.status(503), afterLast: .repeat)
        )
        #expect(outcome.attempts == 4)
        #expect(budget.balance == 7)
    }
}
