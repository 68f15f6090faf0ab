import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("A request that has waited for its credential")
struct ReadmissionTests {
    /// A credential that takes as long each time as is left in a list, and whose value is how often it has been used.
    private static func slow(_ waits: [Duration], _ clock: ManualClock) -> AwaitedCredential {
        let (waits, uses) = (Locked(waits), Counter())
        return AwaitedCredential {
            let wait: Duration = waits.withLock { $0.isEmpty ? .zero : $0.removeFirst() }
            try await clock.sleep(for: wait)
        } write: {
            $0.header[.authorization] = "\(uses.increment())"
        }
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
            let credential = Self.slow(waits, clock)
            let service = AnyHttpService(
                apiUrl: "a.com",
                interceptors: [guardian],
                retrierFactory: AnyRetrierFactory.authorizing(with: credential),
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

    @Test("a request is readmitted as it was built, and authorized anew if that has made it wait again")
    func authorizedAnew() async throws {
        for (pause, credential) in [(Duration.seconds(1), "2"), (.zero, "1")] {
            let run = try await run(waits: [.seconds(2)], pause: pause)
            #expect(run.asked == [.seconds(2)])
            #expect(run.seen == [nil])
            #expect(run.sent == [credential])
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

    @Test("a request whose credential takes its time whenever it is needed is sent in the end")
    func slowCredential() async throws {
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

    @Test(
        "a side request is readmitted, and so is a request that has waited for one to be authorized",
        arguments: [true, false]
    )
    func sideRequest(isFirst: Bool) async throws {
        let (asked, count) = try await simulate { simulation in
            let clock = simulation.clock
            let guardian = Guard(clock: clock, refuses: false, pause: .zero)
            let transport = ScriptedTransport(.status(200), afterLast: .repeat, clock: clock)
            let credential = Self.slow([.seconds(2)], clock)
            let service = AnyHttpService<HttpError>(
                apiUrl: "a.com",
                interceptors: [Beside(isFirst: isFirst), guardian],
                retrierFactory: AnyRetrierFactory.authorizing(with: credential),
                transport: transport,
                clock: clock
            )
            try await AnyRequest(.get, ["things"]).schedule(with: service)
            return (guardian.asked.withLock { $0 }, transport.count)
        }
        // If one waits for the other to be authorized, both have waited.
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
