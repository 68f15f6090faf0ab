import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("A request that has waited for its credential")
struct ReadmissionTests {
    /// Waits as long for each credential as is left in a list, and stamps how many it has waited for.
    private struct SlowRetrier: Retrier {
        let clock: ManualClock
        let waits: Locked<[Duration]>
        let stamps = Counter()

        func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
            let wait = waits.withLock { $0.isEmpty ? .zero : $0.removeFirst() }
            try await clock.sleep(for: wait)
            httpRequest.header[.authorization] = "\(stamps.increment())"
        }

        func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { .doNotRetry }
    }

    /// Remembers what it was asked.
    private struct Guard: HttpInterceptor {
        let clock: ManualClock
        let refuses: Bool
        let pause: Duration
        let asked = Locked<[Duration]>([])
        let seen = Locked<[String?]>([])

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            try await next(request)
        }

        func readmit(_ request: HttpRequest, context: AttemptContext) async throws {
            asked.withLock { $0.append(clock.now.offset) }
            seen.withLock { $0.append(request.header[.authorization]) }
            try await clock.sleep(for: pause)
            if refuses { throw HttpError(.custom, stage: .intercept) }
        }
    }

    private func run(
        waits: [Duration],
        refuses: Bool = false,
        pause: Duration = .seconds(1)
    ) async throws -> (asked: [Duration], seen: [String?], sent: [String?]) {
        try await simulate { simulation in
            let clock = simulation.clock
            let (guardian, transport) = (
                Guard(clock: clock, refuses: refuses, pause: pause), ScriptedTransport(.status(200), clock: clock)
            )
            let retrier = SlowRetrier(clock: clock, waits: Locked(waits))
            let service = AnyHttpService(
                apiUrl: "a.com",
                interceptors: [guardian],
                retrierFactory: AnyRetrierFactory { () -> any Retrier in retrier },
                transport: transport,
                clock: clock
            )
            try? await AnyRequest(.get, ["things"]).schedule(with: service)
            return (
                guardian.asked.withLock { $0 }, guardian.seen.withLock { $0 },
                transport.attempts.map(\.header[.authorization])
            )
        }
    }

    @Test("is looked at once more, as it came, and stamped anew if that has made it wait again")
    func stampedAnew() async throws {
        for (pause, stamp) in [(Duration.seconds(1), "2"), (.zero, "1")] {
            let run = try await run(waits: [.seconds(2)], pause: pause)
            #expect(run.asked == [.seconds(2)])
            #expect(run.seen == [nil])
            #expect(run.sent == [stamp])
        }
    }

    @Test("is not looked at when it has not waited")
    func notAgain() async throws {
        #expect(try await run(waits: [.milliseconds(5)]).asked == [])
    }

    @Test("is looked at whenever it has waited again: those that wait for two renewals would leave all at once")
    func twice() async throws {
        let run = try await run(waits: [.seconds(2), .seconds(2)])
        #expect(run.asked == [.seconds(2), .seconds(5)])
        #expect(run.sent == ["3"])
    }

    @Test("is sent in the end, though its retrier takes its time whenever it is asked")
    func slowRetrier() async throws {
        let slow = try await run(waits: Array(repeating: .milliseconds(10), count: 100))
        #expect(slow.asked == [.milliseconds(10), .milliseconds(1_020), .milliseconds(2_030)])
        #expect(slow.sent == ["3"])
        let slower = try await run(waits: Array(repeating: .seconds(2), count: 100))
        #expect(slower.asked == [.seconds(2), .seconds(5), .seconds(8)])
        #expect(slower.sent == ["3"])
    }

    /// Sends a request besides, before or while the attempt's own is passed on.
    private struct Beside: HttpInterceptor {
        let isFirst: Bool

        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            var side = request
            side.url.append(component: "side")
            let aside = side
            if isFirst {
                _ = try await context.send(aside)
                return try await next(request)
            }
            async let answer = context.send(aside)
            let response = try await next(request)
            _ = try await answer
            return response
        }
    }

    @Test("is looked at if it is a side request, or has waited for one to be stamped", arguments: [true, false])
    func sideRequest(isFirst: Bool) async throws {
        let (asked, count) = try await simulate { simulation in
            let clock = simulation.clock
            let guardian = Guard(clock: clock, refuses: false, pause: .zero)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: clock)
            let retrier = SlowRetrier(clock: clock, waits: Locked([.seconds(2)]))
            let service = AnyHttpService<HttpError>(
                apiUrl: "a.com",
                interceptors: [Beside(isFirst: isFirst), guardian],
                retrierFactory: AnyRetrierFactory { () -> any Retrier in retrier },
                transport: transport,
                clock: clock
            )
            try await AnyRequest(.get, ["things"]).schedule(with: service)
            return (guardian.asked.withLock { $0 }, transport.count)
        }
        // If one waits for the other to be stamped, both have waited.
        #expect(asked == Array(repeating: .seconds(2), count: isFirst ? 1 : 2))
        #expect(count == 2)
    }

    @Test("is not sent when that is refused")
    func refused() async throws {
        let run = try await run(waits: [.seconds(2)], refuses: true)
        #expect(run.asked == [.seconds(2)])
        #expect(run.sent.isEmpty)
    }
}
