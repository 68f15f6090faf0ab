import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("A storm of requests on all guards")
struct TrafficStormTests {
    @Test("no rate is exceeded, no place is lost, one probe goes at a time, and all waits end")
    func manySeeds() async throws {
        try await forEachSeed(60) { seed in
            let findings = try await simulate(seed: seed) { simulation in
                let storm = TrafficStorm(simulation, seed: seed)
                await storm.run()
                return storm.findings()
            }
            try #require(findings.isEmpty, "seed \(seed): \(findings.prefix(3))")
        }
    }
}

/// One service behind a limit, a pacing with a rate, and a breaker, whose calls are slow to be authorized, sent twice,
/// rejected, redirected, asked for patience, and cancelled.
private struct TrafficStorm: Sendable {
    private let clock: ManualClock
    private let weather: Weather
    private let rate: RequestRate
    private let pacing: Pacing
    private let limit: ConcurrencyLimit
    private let breaker: CircuitBreaker
    private let server: RoughServer
    private let service: AnyHttpService<HttpError>
    private let book: StormBook
    private let origin: HttpOrigin

    init(_ simulation: Simulated, seed: UInt64) {
        let (clock, random) = (simulation.clock, simulation.random)
        let weather = Weather(random)
        let rate = RequestRate.requests(weather.count, per: weather.period)
        let partition: (@Sendable (HttpRequest) -> String)? =
            weather.isPartitioned ? { @Sendable (request: HttpRequest) in request.header["X-User"] ?? "" } : nil
        let pacing = Pacing(
            rate: rate,
            maxWait: weather.maxWait,
            partition: partition,
            clock: clock,
            random: random
        )
        let limit = ConcurrencyLimit(weather.slots)
        let limits = CircuitLimits(
            minimumThroughput: 3,
            window: .seconds(5),
            pause: .constant(.seconds(1), jitter: .none)
        )
        let breaker = CircuitBreaker(limits: limits, clock: clock, random: random)
        let book = StormBook()
        let server = RoughServer(clock: clock, random: random, weather: weather, breaker: breaker, book: book)
        let base = AnyHttpService<HttpError>(
            apiUrl: "api.example.com",
            interceptors: [
                Subrequests(random: random), limit, Arriving(clock: clock, book: book), pacing, breaker,
                Passing(clock: clock, book: book, longest: weather.maxWait),
            ],
            transport: server,
            clock: clock
        )
        let coordinator = RefreshCoordinator(
            credential: 1,
            limits: RefreshLimits(maxStarts: 1_000_000),
            clock: clock,
            random: random
        ) { _ in
            try await AnyRequest(.post, ["renew"]).schedule(with: base)
            return server.token
        }
        let slow = AnyRetrierFactory.authorizing(
            with: AwaitedCredential(wait: {
                try await clock.sleep(for: weather.longestAuthorization * random.nextFraction())
            })
        )
        self.service = base.with {
            if let delay = weather.hedgeDelay {
                $0.interceptors.append(Hedging(after: .fixed(delay), budget: .unlimited))
            }
            $0.retrierFactory = .composed(
                coordinator.authorization { $1.header[.authorization] = "\($0)" },
                slow,
                BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = .exponential(base: .milliseconds(50), cap: .seconds(1))
                        $0.budget = .unlimited
                        $0.random = random
                    }
                )
            )
        }
        (self.clock, self.weather, self.rate, self.book, self.server) = (clock, weather, rate, book, server)
        (self.pacing, self.limit, self.breaker, self.origin) = (pacing, limit, breaker, trafficOrigin)
    }

    /// Calls in bad weather, and then as many as may go at once in good weather.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<weather.calls {
                group.addTask { await call(number) }
            }
        }
        book.isCalm = true
        // Second sends that have lost are over, and so is a refresh that no call waits for any more.
        try? await clock.sleep(for: .seconds(100))
        _ = await failureOfOneCall(of: service)
        try? await clock.sleep(for: weather.period + .seconds(3))
        let (start, sent) = (clock.now.offset, book.sends.count)
        let count = min(weather.slots, weather.count)
        let calm = service.with {
            $0.interceptors.removeFirst()
            $0.retrierFactory = .never
            $0.interceptors.removeAll { $0 is Hedging }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = await failureOfOneCall(of: calm) } }
        }
        let late = book.sends.dropFirst(sent).filter { $0.time > start }
        if book.sends.count - sent != count || !late.isEmpty {
            book.note("\(late.count) of \(count) calls were late after the storm")
        }
    }

    private func call(_ number: Int) async {
        let (start, patience) = weather.visit()
        try? await clock.sleep(for: start)
        let request = AnyRequest(.get, ["a"]).with { $0.header["X-User"] = "\(number % 2)" }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await request.schedule(with: service) }
            if let patience { group.addTask { try? await clock.sleep(for: patience) } }
            await group.next()
            let end = clock.now
            group.cancelAll()
            await group.waitForAll()
            if patience != nil, clock.now != end { book.note("a cancelled call took its time") }
        }
    }

    func findings() -> [String] {
        for (_, sends) in Dictionary(grouping: book.sends, by: \.part) {
            let times = sends.map(\.time).sorted()
            for (first, next) in zip(times, times.dropFirst(rate.count)) where next - first < rate.period {
                book.note("\(rate.count + 1) within \(next - first), at \(first)")
            }
        }
        if limit.underWayCount(to: origin) != 0 { book.note("a slot is lost") }
        if limit.waitingCount(for: origin) + pacing.waitingCount(for: origin) != 0 { book.note("somebody waits still") }
        if pacing.parts.withLock({ $0.underWayCount(for: origin) }) != 0 { book.note("a place is lost") }
        if breaker.state(of: origin) != .closed { book.note("the circuit is \(breaker.state(of: origin))") }
        return book.findings
    }
}

/// What differs between storms.
private struct Weather: Sendable {
    let random: any RandomSource
    let (count, period): (Int, Duration)
    let (slots, calls): (Int, Int)
    let maxWait: Duration
    let isPartitioned: Bool
    /// How long a credential may take for a request, and the server for its answer.
    let (longestAuthorization, longestAnswer): (Duration, Duration)
    let hedgeDelay: Duration?
    let isOut: Bool

    init(_ random: any RandomSource) {
        func one<Value>(of values: Value...) -> Value {
            values[min(values.count - 1, Int(random.nextFraction() * Double(values.count)))]
        }
        self.random = random
        (count, period) = (one(of: 1, 3, 5), one(of: .milliseconds(100), .seconds(1), .seconds(10)))
        (slots, calls) = (one(of: 1, 3, 6), one(of: 15, 40))
        maxWait = one(of: .seconds(5), .seconds(60))
        (isPartitioned, isOut) = (one(of: true, false), one(of: true, false))
        longestAuthorization = one(of: .zero, .milliseconds(4), .milliseconds(50), .seconds(2))
        longestAnswer = one(of: .milliseconds(1), .milliseconds(80), .milliseconds(700))
        hedgeDelay = one(of: nil, longestAnswer / 4, longestAnswer / 2)
    }

    func happens(_ chance: Double) -> Bool { random.nextFraction() < chance }

    /// When a call begins, and after how long it is cancelled; nil for never.
    func visit() -> (start: Duration, patience: Duration?) {
        let start = Duration.seconds(6) * random.nextFraction()
        return (start, happens(0.3) ? .seconds(3) * random.nextFraction() : nil)
    }
}

/// What happened, and what was wrong with it.
private final class StormBook: Sendable {
    struct Send: Sendable {
        let part: String
        let time: Duration
    }

    private struct State: Sendable {
        var isCalm = false
        var sends: [Send] = []
        var arrivals: [String: Duration] = [:]
        /// When requests were last let through all interceptors.
        var passed: [String: Duration] = [:]
        var probes: [Int: Duration] = [:]
        var findings: [String] = []
    }

    private let state = Locked(State())

    var isCalm: Bool {
        get { state.withLock { $0.isCalm } }
        set { state.withLock { $0.isCalm = newValue } }
    }
    var sends: [Send] { state.withLock { $0.sends } }
    var findings: [String] { state.withLock { $0.findings } }

    func note(_ finding: String) { state.withLock { $0.findings.append(finding) } }
    func noteSend(in part: String, at time: Duration) {
        state.withLock { $0.sends.append(Send(part: part, time: time)) }
    }
    func arrived(_ name: String, at time: Duration?) { state.withLock { $0.arrivals[name] = time } }

    /// - Returns: When it had arrived.
    func passed(_ name: String, at time: Duration) -> Duration {
        state.withLock { state in
            state.passed[name] = time
            return state.arrivals[name] ?? time
        }
    }

    /// Notes a probe on its way. Another one goes when this one has taken longer than a pause.
    ///
    /// - Returns: Its number.
    func beginProbe(_ name: String, at now: Duration) -> Int {
        state.withLock { state in
            let start = state.passed[name] ?? now
            if state.probes.values.contains(where: { $0 > start - .seconds(1) && $0 < start + .seconds(1) }) {
                state.findings.append("two probes at \(now)")
            }
            state.probes[state.sends.count] = start
            return state.sends.count
        }
    }

    func endProbe(_ number: Int) { state.withLock { $0.probes[number] = nil } }
}

extension AttemptContext {
    fileprivate var name: String { "\(call.id) \(number) \(subrequest)" }
}

/// Sends up to two subrequests.
private struct Subrequests: CallInterceptor {
    let random: any RandomSource

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        for _ in 0..<Int(random.nextFraction() * 3) { _ = try? await context.send(request) }
        return try await next(request)
    }
}

/// Before the pacing.
private struct Arriving: NetworkInterceptor {
    let clock: ManualClock
    let book: StormBook

    var networkStage: InterceptorTier.NetworkStage { .waitingForServer }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        book.arrived(context.name, at: clock.now.offset)
        return try await next(request)
    }
}

/// Behind all others. Tells the server the name of the request.
private struct Passing: NetworkInterceptor {
    let clock: ManualClock
    let book: StormBook
    let longest: Duration

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        let now = clock.now.offset
        let wait = now - book.passed(context.name, at: now)
        // The longest wait, the time for releases that are spread, and a few slots.
        if wait > longest + max(.seconds(1), longest / 10) + .milliseconds(100) { book.note("waited for \(wait)") }
        var named = request
        named.header["X-Storm-Name"] = context.name
        return try await next(named)
    }
}

/// Answers late, with all that makes calls wait, and notes what is sent.
private struct RoughServer: HttpTransport {
    let clock: ManualClock
    let random: any RandomSource
    let weather: Weather
    let breaker: CircuitBreaker
    let book: StormBook
    private let newest = Locked(1)

    var token: Int { newest.withLock { $0 } }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let now = clock.now.offset
        var probe: Int?
        if request.url.path != "/moved" {
            book.noteSend(in: weather.isPartitioned ? request.header["X-User"] ?? "" : "", at: now)
            if request.url.path == "/a", case .halfOpen = breaker.state(of: trafficOrigin) {
                probe = book.beginProbe(request.header["X-Storm-Name"] ?? "", at: now)
            }
        }
        defer { if let probe { book.endProbe(probe) } }
        try await clock.sleep(for: weather.longestAnswer * random.nextFraction())
        return book.isCalm ? .test() : answer(to: request, sent: now)
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        throw CancellationError()
    }

    private func answer(to request: HttpRequest, sent time: Duration) -> HttpResponse<Data> {
        if weather.isOut, time > .seconds(2), time < .seconds(12) { return .test(503) }
        if request.url.path == "/renew" || weather.happens(0.03) { newest.withLock { $0 += 1 } }
        if request.url.path == "/renew" { return .test() }
        if request.header[.authorization] != "\(token)" { return .test(401) }
        if weather.happens(0.08) { return .test(429, header: [.retryAfter: weather.happens(0.5) ? "1" : "3"]) }
        if weather.happens(0.05) { return .test(307, header: [.location: "/moved"]) }
        return .test()
    }
}
