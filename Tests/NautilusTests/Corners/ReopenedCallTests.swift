import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Books of streams and sockets")
struct ReopenedCallTests {
    private struct Feed: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        var timeout: Duration? { nil }
    }

    @Test("an event stream that is left while it waits to connect again has paid for nothing")
    func events() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let budget = TokenBucketBudget(depositOfSuccess: 0.1)
            let transport = ScriptedTransport(
                .reply(header: ["Content-Type": "text/event-stream"], text: "data: one\n\n"),
                clock: clock
            )
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: steadyBackoff(budget: .shared(budget)),
                transport: transport,
                clock: clock
            )
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { for try await _ in Feed().events(with: service) {} } catch {}
                }
                try? await clock.sleep(for: .milliseconds(250))
                group.cancelAll()
            }
            #expect(transport.count == 1)
            #expect(budget.balance == 10)
        }
    }

    struct Chat: StreamRequest {
        typealias Message = String
        typealias Result = String
        var timeout: Duration?
        var route: HttpRoute { [] }
        func encode(_ message: String) throws -> WebSocketMessage { .text(message) }
        func decode(_ message: WebSocketMessage) throws -> String {
            if case .text(let text) = message { text } else { "" }
        }
    }

    struct Service: HttpService {
        let apiUrl: any UrlConvertible = "api.example.com"
        let retrierFactory: any RetrierFactory
        let webSocketTransport: any WebSocketTransport
        let observer: any CallObserver
        let clock: any Clock<Duration> = ManualClock()
        var visit: @Sendable () async throws -> Void = {}
        var asyncHeader: HttpHeader {
            get async throws {
                try await visit()
                return [:]
            }
        }

        init(
            _ retrierFactory: any RetrierFactory,
            _ webSocketTransport: any WebSocketTransport,
            _ observer: any CallObserver = .none,
            visit: @escaping @Sendable () async throws -> Void = {}
        ) {
            (self.retrierFactory, self.webSocketTransport) = (retrierFactory, webSocketTransport)
            (self.observer, self.visit) = (observer, visit)
        }
    }

    @Test("a socket that could not be opened again: the trace and the events have the attempt that failed")
    func reopened() async throws {
        let observer = RecordingObserver()
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() }, .decline(404))
        let backoff = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.zero, jitter: .none)
                $0.budget = .unlimited
            }
        )
        let chat = try await Chat().schedule(with: Service(backoff, transport, observer))
        var lines = chat.makeAsyncIterator()
        var thrown: HttpError?
        do { _ = try await lines.next() } catch { thrown = error }
        let error = try #require(thrown)
        #expect(error.kind == .status(404))
        #expect(error.trace.attempts.last?.outcome == .failed(.validate, .status(404), error.delivery))
        #expect(error.trace.exchanges.last?.status == 404)
        let (started, ended) = observer.events.reduce(into: (0, 0)) { counts, event in
            guard case .attemptStarted(let call, _) = event, call == error.call else {
                if case .attemptEnded(let call, let attempt) = event, call == error.call, attempt.number > 0 {
                    counts.1 += 1
                }
                return
            }
            counts.0 += 1
        }
        #expect(started == ended)
    }

    @Test("a call that is made while a socket is opened for the third time names the call around it, as in the second")
    func reopenedTwice() async throws {
        let transport = ScriptedWebSocketTransport(.accept { $0.drop() }, .accept { $0.drop() }, .decline(404))
        let parents = Locked<[UInt64?]>([])
        let inner = AnyHttpService(
            apiUrl: "inner.example.com",
            transport: ScriptedTransport(.reply(text: "in"), afterLast: .repeat)
        )
        let backoff = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.zero, jitter: .none)
                $0.budget = .unlimited
            }
        )
        let service = Service(backoff, transport) {
            let parent = try await Ping.get.response(with: inner).trace.call.parent
            parents.withLock { $0.append(parent) }
        }
        let chat = try await Chat().schedule(with: service)
        var lines = chat.makeAsyncIterator()
        do { _ = try await lines.next() } catch {}
        let seen = parents.withLock { $0 }
        #expect(seen.count == 3)
        #expect(!seen.contains(nil))
    }
}
