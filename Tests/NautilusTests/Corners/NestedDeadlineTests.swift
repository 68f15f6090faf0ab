import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The deadline of calls within calls")
struct NestedDeadlineTests {
    /// Where the outer call makes the inner one.
    enum Place: CaseIterable, Sendable {
        case hookBefore, header, interceptor, credential, retry, hookAfter
    }

    /// Makes the inner call in its place.
    private struct Nesting: CallInterceptor, ServiceHook, Retrier {
        let place: Place
        let call: @Sendable () async throws -> Void

        func visit(_ here: Place) async throws {
            if here == place { try await call() }
        }

        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            try await visit(.hookBefore)
            return nil
        }
        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            try await visit(.interceptor)
            return try await next(request)
        }
        var credentials: [any CallCredential] {
            place == .credential ? [AwaitedCredential { try await visit(.credential) }] : []
        }
        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            try? await visit(.retry)
            return place == .retry ? .retry(after: .zero) : .doNotRetry
        }
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async {
            try? await visit(.hookAfter)
        }
    }

    /// How a call ended, and when.
    private struct End: Equatable, Sendable {
        let kind: FailureKind?
        let time: Duration

        static func of(_ call: Ping, with service: AnyHttpService<HttpError>, on clock: ManualClock) async -> End {
            do throws(HttpError) {
                _ = try await call.schedule(with: service)
                return End(kind: nil, time: clock.now.offset)
            } catch {
                return End(kind: error.kind, time: clock.now.offset)
            }
        }
    }

    private struct Ends: Sendable {
        /// Nil when no inner call was made.
        let inner: End?
        let outer: End
        /// The remaining time that the inner call's first attempt knew; nil when nothing was sent.
        let remaining: Duration?
    }

    /// Calls, from `place` and 400 ms after the outer call has come there, a server that never answers.
    private func ends(
        _ inner: Ping = .get,
        within outer: Ping,
        at place: Place,
        clock innerClock: ManualClock? = nil,
        seed: UInt64 = 0
    ) async throws -> Ends {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let silent = ScriptedTransport(.hang, afterLast: .repeat)
            let innerService = AnyHttpService(
                apiUrl: "inner.example.com",
                transport: silent,
                clock: innerClock ?? clock
            )
            let innerEnd = Locked<End?>(nil)
            let nesting = Nesting(place: place) {
                try await clock.sleep(for: .milliseconds(400))
                do {
                    _ = try await inner.schedule(with: innerService)
                } catch let error as HttpError {
                    innerEnd.withLock { $0 = End(kind: error.kind, time: clock.now.offset) }
                    throw error
                }
            }
            let outerService = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [nesting],
                retrierFactory: AnyRetrierFactory { nesting },
                transport: ScriptedTransport(place == .retry ? .status(503) : .reply(text: "ok"), afterLast: .repeat),
                clock: clock
            ).with {
                $0.hook = nesting
                $0.asyncHeader = {
                    try await nesting.visit(.header)
                    return [:]
                }
            }
            let outerEnd = await End.of(outer, with: outerService, on: clock)
            return Ends(
                inner: innerEnd.withLock { $0 },
                outer: outerEnd,
                remaining: silent.attempts.first?.context.remaining
            )
        }
    }

    @Test("a call that is made within another has what is left to that one", arguments: Place.allCases)
    func inherited(place: Place) async throws {
        for seed in 0..<10 as Range<UInt64> {
            let ends = try await ends(within: Ping(deadline: .seconds(1)), at: place, seed: seed)
            #expect(ends.remaining == .milliseconds(600))
            #expect(ends.inner == End(kind: .deadline(.milliseconds(600)), time: .seconds(1)))
            #expect(ends.outer.time == .seconds(1))
            let kind: FailureKind? =
                switch place {
                case .retry: .status(503)
                case .hookAfter: nil
                default: .deadline(.seconds(1))
                }
            #expect(ends.outer.kind == kind)
        }
    }

    @Test(
        "the earlier of two deadlines holds, to the nanosecond",
        arguments: [
            (.milliseconds(200), .milliseconds(200)),
            (.nanoseconds(599_999_999), .nanoseconds(599_999_999)),
            (.nanoseconds(600_000_001), .milliseconds(600)),
            (.seconds(60), .milliseconds(600)),
        ] as [(Duration, Duration)]
    )
    func earlier(own: Duration, limit: Duration) async throws {
        let ends = try await ends(Ping(deadline: own), within: Ping(deadline: .seconds(1)), at: .credential)
        #expect(ends.remaining == limit)
        #expect(ends.inner == End(kind: .deadline(limit), time: .milliseconds(400) + limit))
    }

    @Test("without a deadline outside, the inner call has its own, or none")
    func noneOutside() async throws {
        let own = try await ends(Ping(deadline: .seconds(5)), within: .get, at: .interceptor)
        #expect(own.remaining == .seconds(5))
        #expect(own.inner == End(kind: .deadline(.seconds(5)), time: .milliseconds(5_400)))
        let none = try await ends(Ping(timeout: .seconds(7)), within: .get, at: .interceptor)
        #expect(none.remaining == nil)
        #expect(none.inner == End(kind: .timeout(.seconds(7)), time: .milliseconds(7_400)))
    }

    @Test("an inner service on another clock has the same time left, and ends with the outer call all the same")
    func otherClock() async throws {
        let ends = try await ends(within: Ping(deadline: .seconds(1)), at: .interceptor, clock: ManualClock())
        #expect(ends.remaining == .milliseconds(600))
        #expect(ends.inner == End(kind: .cancelled, time: .seconds(1)))
        #expect(ends.outer == End(kind: .deadline(.seconds(1)), time: .seconds(1)))
    }

    @Test("C3: a task that a call leaves behind is bound by nothing of it, while the call goes on and after its end")
    func leftBehind() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let slow = ScriptedTransport(
                .delay(.seconds(3), then: .reply(text: "ok")),
                afterLast: .repeat,
                clock: clock
            )
            let innerService = AnyHttpService(apiUrl: "inner.example.com", transport: slow, clock: clock)
            let ends = Locked<[End]>([])
            let nesting = Nesting(place: .interceptor) {
                simulation.start {
                    for _ in 1...2 {
                        let end = await End.of(.get, with: innerService, on: clock)
                        ends.withLock { $0.append(end) }
                        try? await clock.sleep(for: .seconds(10))
                    }
                }
            }
            let outerService = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [nesting],
                transport: ScriptedTransport(.hang),
                clock: clock
            )
            let outerEnd = await End.of(Ping(deadline: .seconds(1)), with: outerService, on: clock)
            #expect(outerEnd == End(kind: .deadline(.seconds(1)), time: .seconds(1)))
            await clock.run()
            #expect(
                ends.withLock { $0 } == [End(kind: nil, time: .seconds(3)), End(kind: nil, time: .seconds(16))]
            )
            #expect(slow.attempts.map(\.context.remaining) == [nil, nil])
        }
    }

    @Test("C3: a token that many wait for is not given up by the deadline of the hasty call that asked for it first")
    func sharedToken() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let identity = ScriptedTransport(
                .status(503),
                .delay(.seconds(2), then: .reply(text: "token")),
                clock: clock
            )
            let tokenService = AnyHttpService(
                apiUrl: "id.example.com",
                retrierFactory: ScriptedRetrier.factory { asked, _ in
                    asked == 0 ? .retry(after: .seconds(2)) : .doNotRetry
                },
                transport: identity,
                clock: clock
            )
            let isBegun = Locked(false)
            let token = Locked<String?>(nil)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: ScriptedTransport(.reply(text: "ok")),
                clock: clock
            ).with {
                $0.asyncHeader = {
                    let isFirst = isBegun.withLock { isBegun in
                        defer { isBegun = true }
                        return !isBegun
                    }
                    if isFirst {
                        simulation.start {
                            let fresh = try? await Ping.get.schedule(with: tokenService)
                            token.withLock { $0 = fresh }
                        }
                    }
                    while token.withLock({ $0 }) == nil { try await clock.sleep(for: .milliseconds(100)) }
                    return ["X-Token": token.withLock { $0 } ?? ""]
                }
            }
            async let hasty = End.of(Ping(deadline: .seconds(1)), with: service, on: clock)
            try await clock.sleep(for: .milliseconds(10))
            async let patient = End.of(.get, with: service, on: clock)
            #expect(await hasty == End(kind: .deadline(.seconds(1)), time: .seconds(1)))
            #expect(await patient == End(kind: nil, time: .milliseconds(4_010)))
            #expect(identity.count == 2)
        }
    }

    @Test("a call that has no time left is not sent, and says so")
    func noTimeLeft() async throws {
        let transport = ScriptedTransport()
        let error = try await simulate { simulation in
            let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: simulation.clock)
            let stopwatch = Stopwatch(simulation.clock)
            let scope = CallScope(requestType: Ping.self, deadline: .zero, stopwatch: stopwatch)
            return await scope.enter {
                await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
            }
        }
        #expect(error?.kind == .deadline(.zero))
        #expect(error?.delivery == .notSent)
        #expect(error?.trace.attempts.count == 0)
        #expect(transport.count == 0)
    }

    @Test("calls within calls within calls: each has what is left to all around it")
    func threeLevels() async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let silent = ScriptedTransport(.hang)
            let inmost = AnyHttpService(apiUrl: "three.example.com", transport: silent, clock: clock)
            func service(_ host: String, _ inner: AnyHttpService<HttpError>, _ call: Ping) -> AnyHttpService<HttpError>
            {
                let nesting = Nesting(place: .interceptor) {
                    try await clock.sleep(for: .milliseconds(100))
                    _ = try await call.schedule(with: inner)
                }
                return AnyHttpService(apiUrl: host, interceptors: [nesting], transport: silent, clock: clock)
            }
            let middle = service("two.example.com", inmost, Ping(deadline: .seconds(60)))
            let outer = service("one.example.com", middle, Ping(deadline: .milliseconds(500)))
            let end = await End.of(Ping(deadline: .seconds(1)), with: outer, on: clock)
            #expect(silent.attempts.map(\.context.remaining) == [.milliseconds(400)])
            // The middle call had its own, shorter one; the outer call lives on, and fails of what it has met.
            #expect(end == End(kind: .custom, time: .milliseconds(600)))
        }
    }

    @Test("a refresh that calls share does not end with the one that started it")
    func sharedRefresh() async throws {
        for seed in 0..<10 as Range<UInt64> {
            try await simulate(seed: seed) { simulation in
                let clock = simulation.clock
                let tokens = ScriptedTransport(.delay(.seconds(3), then: .reply(text: "fresh")), clock: clock)
                let tokenService = AnyHttpService(apiUrl: "id.example.com", transport: tokens, clock: clock)
                let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { _ in
                    _ = try await Ping.post.schedule(with: tokenService)
                    return Token(number: 2)
                }
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: AuthorizationRetrier.factory(coordinator),
                    transport: ScriptedTransport { request, _ in
                        request.header[.authorization] == "Bearer token-2" ? .reply(text: "ok") : .status(401)
                    },
                    clock: clock
                )
                async let hurried = End.of(Ping(deadline: .seconds(1)), with: service, on: clock)
                // It comes later, so that the refresh is started by the one that will be gone.
                try await clock.sleep(for: .milliseconds(10))
                async let patient = End.of(.get, with: service, on: clock)
                // The 401 surfaces, since a deadline that passes while a retrier thinks leaves the last real failure.
                #expect(await hurried == End(kind: .status(401), time: .seconds(1)))
                #expect(await patient == End(kind: nil, time: .seconds(3)))
                #expect(tokens.attempts.map(\.context.remaining) == [nil])
            }
        }
    }
}
