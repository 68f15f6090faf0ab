import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Cancelling a call")
struct CancellationTests {
    /// Runs a call in a task that is cancelled once the clock has come to `moment`.
    private func cancelled(
        at moment: Duration,
        _ transport: ScriptedTransport,
        retrier: any RetrierFactory = steadyBackoff()
    ) async throws -> (error: HttpError?, end: Duration) {
        try await simulate { simulation in
            let clock = simulation.clock
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: retrier,
                transport: transport,
                clock: clock
            )
            return try await withThrowingTaskGroup(of: (HttpError?, Duration).self) { group in
                group.addTask {
                    do throws(HttpError) {
                        _ = try await Ping.get.response(with: service)
                        return (nil, clock.now.offset)
                    } catch {
                        return (error, clock.now.offset)
                    }
                }
                if moment > .zero { try await clock.sleep(for: moment) }
                group.cancelAll()
                return try await group.next() ?? (nil, .zero)
            }
        }
    }

    @Test("A15: a call cancelled during a backoff of 60 s ends at once, sends nothing more, and says so")
    func duringBackoff() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "never"))
        let retrier = BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.seconds(60), jitter: .none)
                $0.budget = .unlimited
            }
        )
        let (error, end) = try await cancelled(at: .seconds(10), transport, retrier: retrier)
        #expect(error?.kind == .cancelled)
        #expect((error?.underlying as? HttpError)?.kind == .status(503))
        #expect(end == .seconds(10))
        #expect(transport.count == 1)
        #expect(error?.trace.attempts.count == 1)
    }

    @Test("A16: a call cancelled before its start sends nothing and asks no retrier")
    func beforeStart() async throws {
        let asked = Counter()
        let transport = ScriptedTransport(.reply(text: "never"), afterLast: .repeat)
        let always = ScriptedRetrier.factory { _, _ in
            asked.increment()
            return true
        }
        let (error, _) = try await cancelled(at: .zero, transport, retrier: always)
        #expect(error?.kind == .cancelled)
        #expect(error?.delivery == .notSent)
        #expect(asked.value == 0)
        #expect(transport.count == 0)
    }

    @Test("A15: whatever a retrier says that the cancellation has woken, the call ends as cancelled")
    func duringDecision() async throws {
        let stubborn = ScriptedRetrier.factory { _, _ in
            try? await DefaultClock.current.sleep(for: .seconds(60))
            return .fail(with: HttpError(.custom, stage: .retry))
        }
        let (error, end) = try await cancelled(at: .seconds(10), ScriptedTransport(.status(503)), retrier: stubborn)
        #expect(error?.kind == .cancelled)
        #expect((error?.underlying as? HttpError)?.kind == .status(503))
        #expect(end == .seconds(10))
    }

    @Test("cancellation reaches the transport, and no retrier is asked")
    func duringSend() async throws {
        let asked = Counter()
        let transport = ScriptedTransport(.hang, afterLast: .repeat)
        let always = ScriptedRetrier.factory { _, _ in
            asked.increment()
            return true
        }
        let (error, end) = try await cancelled(at: .seconds(3), transport, retrier: always)
        #expect(error?.kind == .cancelled)
        #expect(end == .seconds(3))
        #expect(asked.value == 0)
        #expect(transport.count == 1)
        #expect(transport.inFlightCount == 0)
    }

    @Test("a transport's cancellation counts in every shape", arguments: 0..<3)
    func shapes(_ shape: Int) async throws {
        let shapes: [any Error] = [
            CancellationError(), URLError(.cancelled),
            TransportError.failed(.cancelled, delivery: .maybeExecuted, reason: "cancelled"),
        ]
        let transport = ScriptedTransport(.fail(shapes[shape]), afterLast: .repeat)
        let outcome = try await outcome(of: Ping.get, retrier: ScriptedRetrier.factory { _, _ in true }, transport)
        #expect(outcome.error?.kind == .cancelled)
        #expect(transport.count == 1)
    }

    @Test("a retrier that goes on after a cancellation is ignored")
    func stubbornRetrier() async throws {
        let transport = ScriptedTransport(.status(503), .reply(text: "never"))
        let stubborn = ScriptedRetrier.factory { _, _ in
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            return true
        }
        let (error, end) = try await cancelled(at: .seconds(1), transport, retrier: stubborn)
        #expect(error?.kind == .cancelled)
        #expect(end == .seconds(1))
        #expect(transport.count == 1)
    }

    @Test("a call that is cancelled while its answer comes asks no retrier about a failure that nobody waits for")
    func duringAnswer() async {
        let asked = Counter()
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [
                OwnNetworkInterceptor { request, _, next in
                    let response = try await next(request)
                    withUnsafeCurrentTask { $0?.cancel() }
                    return response
                }
            ],
            retrierFactory: ScriptedRetrier.factory { _, _ in
                asked.increment()
                return true
            },
            transport: ScriptedTransport(.status(503), afterLast: .repeat)
        )
        let error = await Task { () -> HttpError? in
            do throws(HttpError) {
                _ = try await Ping.get.response(with: service)
                return nil
            } catch {
                return error
            }
        }.value
        #expect(error?.kind == .cancelled)
        #expect((error?.underlying as? HttpError)?.kind == .status(503))
        #expect(asked.value == 0)
    }
}
