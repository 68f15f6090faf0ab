import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A call from attempt to attempt")
struct CallTests {
    @Test("A22: two concurrent calls of one service have two retriers")
    func retrierPerCall() async throws {
        let made = Counter()
        let transport = ScriptedTransport { _, context in context.number == 1 ? .status(503) : .reply(text: "ok") }
        let factory = AnyRetrierFactory {
            made.increment()
            return ScriptedRetrier { asked, _ in asked == 0 ? true : false }
        }
        let service = AnyHttpService(apiUrl: "api.example.com", retrierFactory: factory, transport: transport)
        // Each retrier retries once: with one retrier for both, one of the calls would fail.
        async let one = Ping.get.schedule(with: service)
        async let two = Ping.get.schedule(with: service)
        #expect(try await [one, two] == ["ok", "ok"])
        #expect(made.value == 2)
        #expect(transport.count == 4)
    }

    @Test("a retrier that lets another error surface gives its reason, or else that of the error")
    func ownReason() async throws {
        struct Failing: Retrier {
            let reason: RetryReason?
            func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                .fail(with: HttpError(.invalidRequest(.method), stage: .retry))
            }
        }
        for reason in [.custom("closed"), nil] as [RetryReason?] {
            let retrier = AnyRetrierFactory { Failing(reason: reason) }
            let outcome = try await outcome(of: Ping.get, retrier: retrier, ScriptedTransport(.status(503)))
            #expect(outcome.error?.kind == .invalidRequest(.method))
            #expect(outcome.lastReason == reason ?? .custom("\(HttpRequest.Invalid.method)"))
        }
    }

    @Test("A26: a one-shot body that has been read is not sent again, and the real error surfaces")
    func oneShotBody() async throws {
        let transport = ScriptedTransport(.status(503, header: ["Retry-After": "1"]), .reply(text: "never"))
        let chunks = Self.chunks
        let outcome = try await outcome(of: Ping(method: .put, body: .stream(chunks())), transport)
        #expect(outcome.error?.kind == .status(503))
        #expect(outcome.lastReason == .bodySpent)
        #expect(transport.count == 1)
        #expect(transport.attempts[0].body == Data("abc".utf8))
    }

    @Test("A26: a body from a factory is made again")
    func replayableBody() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let outcome = try await outcome(of: Ping(method: .put, body: .stream(from: Self.chunks)), transport)
        #expect(outcome.response?.body == "ok")
        #expect(transport.attempts.map(\.body) == [Data("abc".utf8), Data("abc".utf8)])
    }

    @Test("a one-shot body that was never read can still be sent")
    func unreadBody() async throws {
        let transport = ScriptedTransport(.reply(text: "ok"))
        let fails = FailsFirst()
        let outcome = try await outcome(
            of: Ping(method: .put, body: .stream(Self.chunks())),
            retrier: ScriptedRetrier.factory { _, _ in true },
            interceptors: [fails],
            transport
        )
        #expect(outcome.response?.body == "ok")
        #expect(outcome.attempts == 2)
        #expect(transport.attempts.map(\.body) == [Data("abc".utf8)])
    }

    @Test("A27: a header from state that changes between attempts carries the new value")
    func headerIsReadAgain() async throws {
        let version = Counter()
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        _ = try await outcome(of: Ping.get, header: { ["X-Version": "\(version.increment())"] }, transport)
        #expect(transport.attempts.map { $0.header["X-Version"] } == ["1", "2"])
    }

    @Test("A28: a retrier that retries for ever at once meets the ceiling, and the real error surfaces")
    func ceiling() async throws {
        let transport = ScriptedTransport(.status(503), afterLast: .repeat)
        let outcome = try await outcome(of: Ping.get, retrier: ScriptedRetrier.factory { _, _ in true }, transport)
        #expect(outcome.error?.kind == .status(503))
        #expect(outcome.lastReason == .ceiling(100))
        #expect(transport.count == 100)
    }

    @Test("a service chooses its own ceiling")
    func ownCeiling() async throws {
        let transport = ScriptedTransport(.status(503), afterLast: .repeat)
        let always = ScriptedRetrier.factory { _, _ in true }
        _ = try await outcome(of: Ping.get, retrier: always, maxAttempts: 7, transport)
        #expect(transport.count == 7)
    }

    @Test("without a retrier, the first failure surfaces")
    func noRetrier() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "never"))
        let outcome = try await outcome(of: Ping.get, retrier: .never, transport)
        #expect(outcome.error?.kind == .status(503))
        #expect(transport.count == 1)
    }

    @Test("the error that surfaces is the last failure, not the first, and not the limit")
    func lastError() async throws {
        let transport = ScriptedTransport(.status(500), .status(502), .status(503), .fail(.timedOut))
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.kind == .transport(.timedOut))
        #expect(outcome.error?.attempt == 4)
        #expect(outcome.lastReason == .attemptsUsed(4))
    }

    @Test("a transport that throws plain URL errors is understood, and its URLs are not kept")
    func urlError() async throws {
        let refused = URLError(
            .cannotConnectToHost,
            userInfo: ["NSErrorFailingURLStringKey": "https://h/?token=x"]
        )
        let transport = ScriptedTransport(.fail(refused), .fail(URLError(.networkConnectionLost)))
        let outcome = try await outcome(of: Ping.post, transport)
        #expect(outcome.trace.attempts[0].outcome == .failed(.send, .transport(.cannotConnectToHost), .notSent))
        #expect(outcome.error?.delivery == .maybeExecuted)
        #expect(outcome.error?.underlying == nil)
        #expect(transport.count == 2)
    }

    @Test("a negative delay is none")
    func negativeDelay() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "ok"))
        let retrier = ScriptedRetrier.factory { _, _ in .retry(after: .seconds(-5)) }
        let outcome = try await outcome(of: Ping.get, retrier: retrier, transport)
        #expect(outcome.delays == [.zero])
    }

    @Test("a service's own error is typed, and made from the framework's")
    func mappedError() async throws {
        enum NotesError: Error { case missing, other }
        struct Notes: HttpService {
            let transport: any HttpTransport
            var apiUrl: any UrlConvertible { "notes.example.com" }
            func mapError(_ error: HttpError) -> NotesError { error.status == 404 ? .missing : .other }
        }
        let notes = Notes(transport: ScriptedTransport(.status(404), .status(500)))
        do throws(NotesError) {
            _ = try await Ping.get.schedule(with: notes)
            Issue.record("the call succeeded")
        } catch {
            #expect(error == .missing)
        }
        let erased: AnyHttpService<NotesError> = AnyHttpService(notes)
        await #expect(throws: NotesError.other) { try await Ping.get.schedule(with: erased) }
    }

    @Test("building and decoding run off the main actor")
    @MainActor
    func offTheMainActor() async throws {
        struct Observing: Request {
            typealias Result = Bool
            var route: HttpRoute { [] }
            var header: HttpHeader { ["X-Main": Thread.isMainThread ? "yes" : "no"] }
            func decode(_ data: Data) throws -> Bool { Thread.isMainThread }
        }
        let transport = ScriptedTransport(.status(200))
        let decodedOnMain = try await Observing().schedule(
            with: AnyHttpService(apiUrl: "api.example.com", transport: transport)
        )
        #expect(!decodedOnMain)
        #expect(transport.attempts[0].header["X-Main"] == "no")
    }

    private static let chunks: @Sendable () -> AsyncThrowingStream<Data, any Error> = {
        AsyncThrowingStream { continuation in
            for chunk in ["a", "bc"] { continuation.yield(Data(chunk.utf8)) }
            continuation.finish()
        }
    }

    private struct FailsFirst: NetworkInterceptor {
        struct Failure: Error {}
        let passed = Counter()
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            guard passed.increment() > 1 else { throw Failure() }
            return try await next(request)
        }
    }
}
