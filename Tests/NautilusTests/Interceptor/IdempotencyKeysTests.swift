import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("An interceptor that adds idempotency keys")
struct IdempotencyKeysTests {
    /// Draws key-1, key-2, …
    private let drawn = Counter()

    private var keys: IdempotencyKeys {
        IdempotencyKeys { [drawn] in "key-\(drawn.increment())" }
    }

    private func keyed(_ condition: RetryCondition = .standard.retryingKeysInProgress()) -> any RetrierFactory {
        BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.seconds(1), jitter: .none)
                $0.condition = condition
                $0.budget = .unlimited
            }
        )
    }

    @Test("a POST that may have been executed is repeated, with the same key and body")
    func repeatable() async throws {
        let transport = ScriptedTransport(.status(500), .fail(.networkConnectionLost), .status(201))
        let outcome = try await outcome(of: Ping.post, interceptors: [keys], transport)
        #expect(outcome.response?.status == 201)
        #expect(outcome.trace.request?.hasIdempotencyKey == true)
        #expect(transport.attempts.map { $0.header[.idempotencyKey] } == ["key-1", "key-1", "key-1"])
        #expect(Set(transport.attempts.map(\.body)) == [Data("payload".utf8)])
    }

    @Test("each call has a key of its own")
    func perCall() async throws {
        let transport = ScriptedTransport(.status(201), afterLast: .repeat)
        for _ in 1...3 { _ = try await outcome(of: Ping.post, interceptors: [keys], transport) }
        #expect(transport.attempts.map { $0.header[.idempotencyKey] } == ["key-1", "key-2", "key-3"])
    }

    @Test(
        "methods that are idempotent by themselves get none, all others do",
        arguments: [
            (HttpMethod.get, nil), (.head, nil), (.put, nil), (.delete, nil), (.options, nil), ("TRACE", nil),
            (.post, "key-1"), (.patch, "key-1"), ("PURGE", "key-1"),
        ]
    )
    func methods(method: HttpMethod, key: String?) async throws {
        let transport = ScriptedTransport(.status(200))
        _ = try await outcome(of: Ping(method: method), interceptors: [keys], transport)
        #expect(transport.attempts.map { $0.header[.idempotencyKey] } == [key])
    }

    @Test("a request's own key stays, and none is drawn")
    func ownKey() async throws {
        var request = Ping.post
        request.header[.idempotencyKey] = "order-7"
        let transport = ScriptedTransport(.status(500), .status(201))
        _ = try await outcome(of: request, interceptors: [keys], transport)
        #expect(transport.attempts.map { $0.header[.idempotencyKey] } == ["order-7", "order-7"])
        #expect(drawn.value == 0)
    }

    @Test("a call has one key, also when an attempt fails before it is sent")
    func notSent() async throws {
        struct Failing: NetworkInterceptor {
            func intercept(
                _ request: HttpRequest,
                context: AttemptContext,
                next: Next
            ) async throws -> HttpResponse<Data> {
                guard context.number > 1 else { throw URLError(.cannotFindHost) }
                return try await next(request)
            }
        }
        let transport = ScriptedTransport(.status(500), .status(201))
        // An interceptor's error may have come after an execution, so that only a retrier which allows that repeats it.
        let retrier = ScriptedRetrier.factory { asked, _ in
            asked < 2 ? .retry(after: .zero, evenIfExecuted: true) : false
        }
        _ = try await outcome(of: Ping.post, retrier: retrier, interceptors: [keys, Failing()], transport)
        #expect(transport.attempts.map { $0.header[.idempotencyKey] } == ["key-1", "key-1"])
    }

    @Test("two keys by default are two UUIDs")
    func random() async throws {
        let transport = ScriptedTransport(.status(201), afterLast: .repeat)
        for _ in 1...2 { _ = try await outcome(of: Ping.post, interceptors: [IdempotencyKeys()], transport) }
        let keys = transport.attempts.compactMap { $0.header[.idempotencyKey] }
        #expect(keys.compactMap(UUID.init).count == 2)
        #expect(Set(keys).count == 2)
    }

    @Test("409 is retried while a request with a key is in progress, and its result comes")
    func inProgress() async throws {
        let transport = ScriptedTransport(
            .fail(.networkConnectionLost),
            .status(409),
            .reply(status: 201, text: "made")
        )
        let outcome = try await outcome(of: Ping.post, retrier: keyed(), interceptors: [keys], transport)
        #expect(outcome.response?.body == "made")
        #expect(outcome.delays == [.seconds(1), .seconds(1)])
        #expect(Set(transport.attempts.map { $0.header[.idempotencyKey] }) == ["key-1"])
    }

    @Test("409 is not retried without a key, nor by the standard condition; 422 is not retried at all")
    func otherConflicts() async throws {
        let cases: [(Ping, RetryCondition, Int)] = [
            (.get, .standard.retryingKeysInProgress(), 409),
            (.post, .standard.retryingKeysInProgress(), 409),
            (.keyedPost, .standard, 409),
            (.keyedPost, .standard.retryingKeysInProgress(), 422),
        ]
        for (request, condition, status) in cases {
            let transport = ScriptedTransport(.status(status), afterLast: .repeat)
            let outcome = try await outcome(of: request, retrier: keyed(condition), transport)
            #expect(outcome.error?.kind == .status(status))
            #expect(transport.count == 1)
        }
    }

    @Test("the preset composes with other lines, whichever comes first")
    func preset() async throws {
        for condition in [
            RetryCondition.standard.retryingKeysInProgress().stopping(status: 500, because: "this server means it"),
            RetryCondition.standard.stopping(status: 500, because: "this server means it").retryingKeysInProgress(),
        ] {
            for (status, count) in [(409, 4), (500, 1)] {
                let transport = ScriptedTransport(.status(status), afterLast: .repeat)
                _ = try await outcome(of: Ping.keyedPost, retrier: keyed(condition), transport)
                #expect(transport.count == count)
            }
        }
    }
}
