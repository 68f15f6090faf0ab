import Foundation
import Nautilus

/// An interceptor that makes requests wait while the server says that it accepts no more, with `Retry-After`,
/// `RateLimit` or its predecessors. It also keeps the client's own rate, if there is one.
/// ```swift
/// struct NotesService { let pacing = Pacing() }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [pacing] }
/// }
/// ```
/// Keep it in a stored property: calls through one instance share its limits. The wait counts towards the call's
/// deadline, but not towards the request's timeout. A call fails at once if its wait would exceed its deadline or the
/// longest wait. The guide `TrafficInDepth` says which fields are read, and in which order requests go.
public final class Pacing: NetworkInterceptor {
    private let partition: (@Sendable (HttpRequest) -> String)?
    let clock: any Clock<Duration>
    let stopwatch: Stopwatch
    let random: any RandomSource
    let parts: Locked<PaceTable<Waiter<Int>>>

    /// Creates pacing that knows of no limits yet.
    ///
    /// - Parameters:
    ///   - rate: How many requests of a partition may be sent within any such time. Combine it with a
    ///     ``ConcurrencyLimit``. Default: nil, as many as the server accepts.
    ///   - maxWaiting: How many requests of a partition may wait; more fail at once. At least 0. Default: nil, 100,
    ///     since behind a hundred others a request is too late; with a `rate`, as many as go within the longest wait,
    ///     if more.
    ///   - maxWait: The longest wait; a request that would wait longer fails at once. Default: 60 s, like the cap of a
    ///     backoff. After that long, or a minute if longer, one request is sent all the same, lest the server be
    ///     mistaken.
    ///   - interval: The mean time between two releases after a wait. A faster `rate` shortens it. Default: 20 ms: the
    ///     last of a hundred waits two seconds longer, and the server does not get the whole queue at once.
    ///   - partition: Names the quotas that a request draws on, never shown. Default: nil, the same for an origin.
    ///   - clock: Measures limits and sleeps. Default: `ContinuousClock`, which runs while the device sleeps.
    ///   - random: The source of a release's moment within its slot. Default: the system's generator.
    public init(
        rate: RequestRate? = nil,
        maxWaiting: Int? = nil,
        maxWait: Duration = .seconds(60),
        interval: Duration = .milliseconds(20),
        partition: (@Sendable (HttpRequest) -> String)? = nil,
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = .system
    ) {
        self.partition = partition
        self.clock = clock
        self.stopwatch = Stopwatch(clock)
        self.random = random
        let rules = PaceRules(maxWaiting: maxWaiting, maxWait: maxWait, interval: interval, rate: rate)
        self.parts = Locked(PaceTable(rules: rules))
    }

    /// How many requests to `origin` are now waiting.
    public func waitingCount(for origin: HttpOrigin) -> Int {
        parts.withLock { $0.waitingCount(for: origin) }
    }

    /// The part that this request shares with others drawing on the same quotas; nil for a URL without an origin.
    func part(of request: HttpRequest) -> PacePart? {
        request.origin.map { PacePart(origin: $0, partition: partition?(request) ?? "") }
    }

    /// Sends the request as soon as the server accepts it.
    ///
    /// - Throws: `HttpError` of kind `refused` when the request would wait too long, or too many are waiting already;
    ///   `CancellationError`, at once, when the call is cancelled while it waits, and likewise the end of its session.
    ///   Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let part = part(of: request) else { return try await next(request) }
        let number: Int
        // Decided here without suspending: nearly always the request goes at once.
        if let immediate = parts.withLock({ $0.immediateNumber(in: part) }) {
            number = immediate
        } else {
            number = try await admit(PaceAsker(context), to: part, context)
        }
        do {
            let response = try await next(request)
            note(response, to: request, number, part)
            return response
        } catch {
            end(part, number, isSent: error.mayHaveBeenCounted)
            throw error
        }
    }
}

extension Error {
    /// Whether the server may have counted the request. The delivery is that of the last hop; the server has answered a
    /// request that it has redirected.
    fileprivate var mayHaveBeenCounted: Bool {
        if self is AttemptContext.WouldWait { return false }
        guard let error = self as? HttpError else { return true }
        return error.delivery != .notSent || error.redirects != nil
    }
}

extension Pacing {
    /// Waits until the request may go, and returns its number.
    private func admit(
        _ asker: PaceAsker,
        to part: PacePart,
        _ context: AttemptContext
    ) async throws -> Int {
        if let number = try pass(part, asker) { return number }
        guard context.mayWait else { throw AttemptContext.WouldWait() }
        // It waits no longer than its session lasts.
        return try await context.wait { [self] in try await wait(in: part, asker) }
    }

    /// The number of the request if it may go at once; nil when it has to wait.
    func pass(_ part: PacePart, _ asker: PaceAsker) throws(HttpError) -> Int? {
        let now = stopwatch.elapsed
        switch parts.withLock({ $0.ask(part, asker, at: now) }) {
        case .go(let number): return number
        case .wait: return nil
        case .refuse(let refusal): throw HttpError(refusal: refusal)
        }
    }

    private func wait(in part: PacePart, _ asker: PaceAsker) async throws -> Int {
        let (now, draw) = (stopwatch.elapsed, random.clampedFraction())
        return try await parts.wait { parts, waiter in
            parts.join(part, .init(waiter: waiter, start: now, asker: asker), draw: draw, at: now)
        } joined: { joined, waiter in
            switch joined.answer {
            case .go(let number): waiter.resume(returning: number)
            case .wait: if let alarm = joined.alarm { setAlarm(for: part, at: alarm) }
            case .refuse(let refusal): waiter.resume(throwing: HttpError(refusal: refusal))
            }
        } leave: { parts, id in
            parts.cancel(part, id)
        }
    }
}

extension Pacing {
    /// Notes the limits that an answer reports.
    func note(
        _ response: HttpResponse<Data>,
        to request: HttpRequest,
        _ number: Int,
        _ part: PacePart
    ) {
        let retryAfter = response.status >= 400 ? response.header.retryAfter() : nil
        // If a redirect led elsewhere, these are the other origin's limits.
        if response.url != request.url, response.isFromElsewhere(than: part.origin) {
            return end(part, number, isSent: true)
        }
        guard retryAfter != nil || response.header.hasRateLimits else {
            return end(part, number, isSent: true, isAnswered: true)
        }
        let (limits, now) = (response.header.rateLimits(), stopwatch.elapsed)
        let (turnedAway, hasWaiters) = parts.withLock {
            $0.answered(part, number, limits: limits, retryAfter: retryAfter, at: now)
        }
        for (waiter, refusal) in turnedAway { waiter.resume(throwing: HttpError(refusal: refusal)) }
        if hasWaiters { release(part) }
    }

    /// Notes that a request has ended without reporting limits.
    ///
    /// - Parameter number: The request that the server has answered; nil, the default, when it has answered none.
    func end(_ part: PacePart, _ number: Int, isSent: Bool, isAnswered: Bool = false) {
        // Releases requests that wait only for others to end.
        let hasWaiters = parts.withLock { $0.ended(part, number, isSent: isSent, isAnswered: isAnswered) }
        if hasWaiters { release(part) }
    }

    /// Releases the requests that are due, and makes sure that the next one is released in time.
    private func release(_ part: PacePart) {
        let now = releaseDue(part)
        if let alarm = parts.withLock({ $0.alarm(for: part, at: now) }) { setAlarm(for: part, at: alarm) }
    }

    private func releaseDue(_ part: PacePart) -> Duration {
        while true {
            let (now, draw) = (stopwatch.elapsed, random.clampedFraction())
            if let (waiter, number) = parts.withLock({ $0.release(part, at: now, draw: draw) }) {
                waiter.resume(returning: number)
                continue
            }
            for (waiter, refusal) in parts.withLock({ $0.turnAwayOverdue(part, at: now) }) {
                waiter.resume(throwing: HttpError(refusal: refusal))
            }
            return now
        }
    }

    /// Releases the requests that are due at `time`, then at the next slot, and so on until none wait.
    ///
    /// One task for the whole queue, rather than for one waiting request, since each of those may be cancelled.
    private func setAlarm(for part: PacePart, at time: Duration) {
        BackgroundTask.start { [self] in
            var next: Duration? = time
            while let time = next {
                let left = time - stopwatch.elapsed
                // The sleep fails only when a simulation ends, and the waiting requests with it.
                if left > .zero, (try? await clock.sleep(for: left)) == nil { return }
                guard parts.withLock({ $0.endAlarm(for: part, at: time) }) else { return }
                let now = releaseDue(part)
                next = parts.withLock { $0.alarm(for: part, at: now) }
            }
        }
    }
}

extension Pacing {
    /// Inside of what makes requests wait for others.
    public var networkStage: InterceptorTier.NetworkStage { .waitingForServer }
}
