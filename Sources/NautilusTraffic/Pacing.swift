import Foundation
import Nautilus

/// Has requests wait for as long as the server says that it takes no more: `Retry-After`, `RateLimit` and its
/// ancestors; and keeps a rate of the client's own, if there is one.
///
/// A server that answers 429 has done work for nothing, and counts the request against the client all the same. The
/// limits that one answer reports hold here for all calls: a call that would exceed them waits before it is sent, not
/// after.
///
/// ```swift
/// struct NotesService: HttpService {
///     let pacing = Pacing()
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [pacing] }
/// }
/// ```
/// The limits are shared by all calls that pass the same instance: keep it in a stored property. One that is made anew
/// in `interceptors` knows nothing. Put it behind every other interceptor that has requests wait, such as a
/// ``ConcurrencyLimit``: it has to be asked when a request could be sent, since a crowd that has passed it before the
/// first answer came cannot be called back.
///
/// - While a limit lasts, requests go at once. One that would exceed it waits until it is reset. Requests that are
///   under way count as if the server had not counted them yet.
/// - `Retry-After` counts on answers from 400 on, and takes precedence over the reset of a limit that is used up.
/// - Waiting requests are released in the order of arrival, in turns of
///   ``init(rate:maxWaiting:maxWait:interval:partition:clock:random:)``'s interval, each at a random moment of its turn, and
///   never before the time that the server has said.
/// - Requests of a refresh are the first in line: others may wait for the credential that it brings.
/// - A cancelled call leaves at once. One whose wait would reach its deadline, or the longest wait, fails at once. The
///   wait counts for the call's deadline, and not for the request's timeout.
///
/// The fields are those of draft-ietf-httpapi-ratelimit-headers in all its versions, and the `X-RateLimit-…` and
/// `X-Rate-Limit-…` that came before: their reset may be seconds or a moment, of which ten digits are seconds since
/// 1970, thirteen milliseconds. The server's `pk` names the partition of its quota: when it changes, the known limits
/// of the same policy were another partition's, and are forgotten. The server cannot say in advance which requests
/// belong together; tell it by `partition` where one client serves several users, say.
public final class Pacing: HttpInterceptor {
    private let partition: (@Sendable (HttpRequest) -> String)?
    let clock: any Clock<Duration>
    let stopwatch: Stopwatch
    let random: any RandomSource
    let core: Locked<PaceCore<Waiter<Int>>>

    /// Creates pacing that knows of no limits yet.
    ///
    /// - Parameters:
    ///   - rate: How many requests go in a time, for a server that has said so elsewhere, or refuses without a word of its
    ///     limits: no more are sent within any such time to one partition, though clocks and networks may bring them closer
    ///     together, and redirects are followed without being counted. Default: nil, as many as the server takes.
    ///   - maxWaiting: How many requests may wait for one partition; more fail at once. Less than 0 counts as 0.
    ///     Default: nil, 100: behind a hundred others a request is no longer of use to its caller; with a `rate`, as many
    ///     as may go within the longest wait, if those are more.
    ///   - maxWait: The longest wait; a request that would have to wait longer fails at once. Default: 60 s, as a
    ///     backoff's cap: a caller would rather know. It also bounds what a server can order by mistake.
    ///   - interval: The mean time between two that are released after a wait. Default: 20 ms, fifty a second: a server
    ///     that has just asked for patience does not get the whole line at once, and the last of a hundred waits two
    ///     seconds longer. Limits hold beside it, and a faster `rate` shortens it.
    ///   - partition: A name for the quotas that a request draws on; requests are kept apart by it, and it is shown
    ///     nowhere. Default: nil, all requests to an origin share them.
    ///   - clock: The clock that measures limits and that waits sleep on. Default: `ContinuousClock`, since the
    ///     server's time goes on while the device sleeps.
    ///   - random: The source of a release's moment within its turn. Default: the system's generator, which no two
    ///     clients share.
    public init(
        rate: RequestRate? = nil,
        maxWaiting: Int? = nil,
        maxWait: Duration = .seconds(60),
        interval: Duration = .milliseconds(20),
        partition: (@Sendable (HttpRequest) -> String)? = nil,
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = SystemRandomSource()
    ) {
        self.partition = partition
        self.clock = clock
        self.stopwatch = Stopwatch(clock)
        self.random = random
        let rules = PaceRules(maxWaiting: maxWaiting, maxWait: maxWait, interval: interval, rate: rate)
        self.core = Locked(PaceCore(rules: rules))
    }

    /// How many requests to `origin` wait now.
    public func waitingCount(for origin: HttpOrigin) -> Int {
        core.withLock { $0.waitingCount(for: origin) }
    }

    /// The lane of the requests that draw on the same quotas as this one; nil for a URL without an origin.
    func lane(of request: HttpRequest) -> PaceLane? {
        request.origin.map { PaceLane(origin: $0, partition: partition?(request) ?? "") }
    }

    /// Sends the request as soon as the server takes it.
    ///
    /// - Throws: `HttpError` of kind `refused` when it would wait for too long, or too many wait already;
    ///   `CancellationError`, at once, when the call is cancelled while it waits, and the end of its session likewise.
    ///   Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let lane = lane(of: request) else { return try await next(request) }
        let number: Int
        // Asked here, without a suspension: nearly always it goes at once.
        if let immediate = try pass(lane, context) {
            number = immediate
        } else {
            number = try await wait(in: lane, request, context)
        }
        do {
            let response = try await next(request)
            heed(response, to: request, number, lane)
            return response
        } catch {
            end(lane, mayCount: (error as? HttpError)?.delivery != .notSent)
            throw error
        }
    }
}

extension Pacing {
    /// The number of the request if it may go at once; nil when it has to wait.
    func pass(_ lane: PaceLane, _ context: AttemptContext) throws(HttpError) -> Int? {
        if let number = core.withLock({ $0.immediateNumber(in: lane) }) { return number }
        let (now, asker) = (stopwatch.elapsed, PaceAsker(context))
        switch core.withLock({ $0.ask(lane, asker, at: now) }) {
        case .go(let number): return number
        case .wait: return nil
        case .refuse(let refusal): throw HttpError(refusal: refusal)
        }
    }

    /// Waits until the request may go, until the end of the call's session at most, and returns its number.
    private func wait(in lane: PaceLane, _ request: HttpRequest, _ context: AttemptContext) async throws -> Int {
        try await context.untilEndOfSession(of: request) { [self] in try await wait(in: lane, context) }
    }

    private func wait(in lane: PaceLane, _ context: AttemptContext) async throws -> Int {
        let (now, draw, asker) = (stopwatch.elapsed, random.clampedFraction(), PaceAsker(context))
        return try await core.wait { core, waiter in
            core.join(lane, .init(waiter: waiter, start: now, asker: asker), draw: draw, at: now)
        } joined: { joined, waiter in
            switch joined.answer {
            case .go(let number): waiter.resume(returning: number)
            case .wait: if let alarm = joined.alarm { setAlarm(for: lane, at: alarm) }
            case .refuse(let refusal): waiter.resume(throwing: HttpError(refusal: refusal))
            }
        } leave: { core, id in
            core.cancel(lane, id)
        }
    }
}

extension Pacing {
    /// Takes note of the limits that an answer reports.
    func heed(_ response: HttpResponse<Data>, to request: HttpRequest, _ number: Int, _ lane: PaceLane) {
        let retryAfter = response.status >= 400 ? response.header.retryAfter() : nil
        guard retryAfter != nil || response.header.hasRateLimits else { return end(lane, mayCount: true) }
        // A redirect has led elsewhere, and these are the other origin's limits.
        if response.url != request.url, response.isFromElsewhere(than: lane.origin) {
            return end(lane, mayCount: true)
        }
        let (limits, now) = (response.header.rateLimits(), stopwatch.elapsed)
        let (turnedAway, hasWaiters) = core.withLock {
            $0.answered(lane, number, limits: limits, retryAfter: retryAfter, at: now)
        }
        for (waiter, refusal) in turnedAway { waiter.resume(throwing: HttpError(refusal: refusal)) }
        if hasWaiters { release(lane) }
    }

    /// Takes note that a request has ended without a word of limits.
    func end(_ lane: PaceLane, mayCount: Bool) {
        // Releases those that wait only for others to end.
        if core.withLock({ $0.ended(lane, mayCount: mayCount) }) { release(lane) }
    }

    /// Releases those that are due, and sees to it that the next one is in time.
    private func release(_ lane: PaceLane) {
        let now = releaseDue(lane)
        if let alarm = core.withLock({ $0.alarm(for: lane, at: now) }) { setAlarm(for: lane, at: alarm) }
    }

    private func releaseDue(_ lane: PaceLane) -> Duration {
        while true {
            let (now, draw) = (stopwatch.elapsed, random.clampedFraction())
            guard let (waiter, number) = core.withLock({ $0.release(lane, at: now, draw: draw) }) else { return now }
            waiter.resume(returning: number)
        }
    }

    /// Wakes those that are due at `time`, then at the next turn, and so on until none wait.
    ///
    /// A task for the whole line and not for one that waits: each of them may be cancelled.
    private func setAlarm(for lane: PaceLane, at time: Duration) {
        BackgroundTask.start { [self] in
            var next: Duration? = time
            while let time = next {
                let left = time - stopwatch.elapsed
                // It fails only when a simulation ends, and the waiting requests with it.
                if left > .zero, (try? await clock.sleep(for: left)) == nil { return }
                guard core.withLock({ $0.endAlarm(for: lane, at: time) }) else { return }
                let now = releaseDue(lane)
                next = core.withLock { $0.alarm(for: lane, at: now) }
            }
        }
    }
}

extension Pacing {
    /// Within every other interceptor that has requests wait: the server may ask for patience meanwhile.
    public var place: InterceptorPlace { .waitingForServer }
    /// Itself.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Has it wait as if it came now.
    ///
    /// - Throws: As ``intercept(_:context:next:)``.
    public func readmit(_ request: HttpRequest, context: AttemptContext) async throws {
        guard let lane = lane(of: request) else { return }
        // It gives its place up first: those of a crowd must not count against one another.
        end(lane, mayCount: false)
        do {
            if try pass(lane, context) == nil { _ = try await wait(in: lane, request, context) }
        } catch {
            // Given up once more, as the attempt ends.
            core.withLock { $0.takePlace(in: lane) }
            throw error
        }
    }

    /// Counts it as another request, which goes at once or not at all.
    public func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend {
        guard let lane = lane(of: request) else { return .admitted() }
        // A refusal is as good as a wait.
        guard case .some(.some) = try? pass(lane, context) else { return .refused }
        return .admitted { [self] in end(lane, mayCount: true) }
    }
}
