import Foundation
import Nautilus

extension Pacing {
    /// The number of the request if it may go at once; nil when it has to wait.
    func pass(_ lane: PaceLane, _ context: AttemptContext) throws(HttpError) -> Int? {
        if let number = core.withLock({ $0.immediateNumber(in: lane) }) { return number }
        let now = stopwatch.elapsed
        switch core.withLock({ $0.ask(lane, at: now, remaining: context.remaining) }) {
        case .go(let number): return number
        case .wait: return nil
        case .refuse(let refusal): throw HttpError(refusal: refusal)
        }
    }

    /// Waits until the request may go, and returns its number.
    func wait(in lane: PaceLane, _ context: AttemptContext) async throws -> Int {
        let (now, draw, remaining) = (stopwatch.elapsed, random.clampedFraction(), context.remaining)
        return try await core.wait { core, waiter in
            core.join(lane, .init(waiter: waiter, start: now, remaining: remaining), draw: draw, at: now)
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
        if let url = response.url, url != request.url, HttpOrigin(url) != lane.origin {
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

    /// Counts it as another request, which goes at once or not at all.
    public func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend {
        guard let lane = lane(of: request) else { return .admitted() }
        // A refusal is as good as a wait.
        guard case .some(.some) = try? pass(lane, context) else { return .refused }
        return .admitted { [self] in end(lane, mayCount: true) }
    }
}
