import Foundation

/// Sends a request, and once more when the first send is slow; the first good answer wins.
struct HedgedExchange: Sendable {
    typealias Outcome = RedirectFollower.Outcome

    /// What the attempt takes, and what it has cost.
    struct Ending: Sendable {
        let outcome: Outcome
        /// Nil when the first send was quick.
        var hedge: CallTrace.Hedge?
        /// Whether the budget has paid for a second send.
        var isCharged = false
        /// The most that the send may have done whose outcome was not taken.
        var otherDelivery = Delivery.notSent
    }

    let request: HttpRequest
    /// The attempt's, with a timer: it tells how long the first send has stood in line.
    let context: AttemptContext
    let hedging: Hedging
    let delay: Duration
    /// What holds requests back, and has to let the second send go.
    let guards: [any HedgeGuard]
    let follower: RedirectFollower
    let clock: any Clock<Duration>

    /// Sends until there is an answer to take, or all sends have failed.
    ///
    /// - Parameter interruption: What ends the sends when the attempt's time is over; nil when its task is cancelled instead.
    func run(until interruption: Interruption? = nil) async -> Ending {
        let race = HedgeRace()
        interruption?.onOccurrence { race.cancel() }
        defer { interruption?.ignore() }
        let stopwatch = Stopwatch(clock)
        let endTimer = TimeLimit(delay, on: clock).timer(besides: context.connectionWait) { race.delayPassed() }
        defer { endTimer() }
        return await withTaskCancellationHandler {
            await run(race, stopwatch)
        } onCancel: {
            race.cancel()
        }
    }

    private func run(_ race: HedgeRace, _ stopwatch: Stopwatch) async -> Ending {
        race.start(.first) { await follower.send(request, context) }
        var hedge: CallTrace.Hedge?
        var isCharged = false
        var failed: (sending: CallTrace.Sending, outcome: Outcome)?
        while true {
            switch await race.next() {
            case .delayPassed:
                // Nobody waits for an answer any more.
                if race.isCancelled { continue }
                if let obstacle = startSecond(in: race) {
                    hedge = .notSent(obstacle)
                } else {
                    hedge = .sent(after: stopwatch.elapsed, winner: nil)
                    isCharged = !hedging.budget.isUnlimited
                }

            case .ended(let sending, let outcome):
                guard case .sent(let start, _) = hedge else { return Ending(outcome: outcome, hedge: hedge) }
                if isAnswered(by: outcome) {
                    race.cancel(sending.other)
                    return Ending(
                        outcome: outcome,
                        hedge: .sent(after: start, winner: sending),
                        isCharged: isCharged,
                        otherDelivery: failed?.outcome.delivery ?? .maybeExecuted
                    )
                }
                guard let other = failed else {
                    failed = (sending, outcome)
                    continue
                }
                let (first, second) = sending == .first ? (outcome, other.outcome) : (other.outcome, outcome)
                let saysMore = second.saysMore(than: first)
                return Ending(
                    outcome: saysMore ? second : first,
                    hedge: hedge,
                    isCharged: isCharged,
                    otherDelivery: saysMore ? first.delivery : second.delivery
                )
            }
        }
    }

    /// Starts the second send, or says why not.
    private func startSecond(in race: HedgeRace) -> HedgeObstacle? {
        guard let origin = request.origin else { return nil }
        if let obstacle = hedging.obstacle(to: origin, timeLeft: context.timeout.map { $0 - delay }) { return obstacle }
        let leave: @Sendable () -> Void
        switch guards.admitHedge(of: request, context: context) {
        case .success(let end): leave = end
        case .failure(let refusal): return .heldBack(by: refusal.interceptor)
        }
        // Asked last: what is not made is not paid for.
        guard hedging.grants(to: origin) else {
            leave()
            return .budget
        }
        // Its own wait for a connection is part of the attempt's time, and must not stop the clock of the first.
        race.start(.second) {
            let outcome = await follower.send(request, context.untimed)
            leave()
            return outcome
        }
        return nil
    }

    /// Whether the attempt takes this outcome without waiting for the other send.
    private func isAnswered(by outcome: Outcome) -> Bool {
        guard let status = outcome.response?.status else { return false }
        if follower.accepted.contains(status) { return true }
        // The other send would be answered in the same way, unless this status speaks of the moment only. After a DELETE,
        // a 404 may be the answer to the send that came second.
        return request.method.isSafe && status < 500 && ![408, 425, 429].contains(status)
    }
}

extension CallTrace.Sending {
    fileprivate var other: CallTrace.Sending { self == .first ? .second : .first }
}

extension RedirectFollower.Outcome {
    /// What came back, a refused redirect included.
    fileprivate var response: HttpResponse<Data>? {
        switch ending {
        case .response(let response), .refused(_, let response): response
        case .failed: nil
        }
    }

    /// What the server may have done.
    fileprivate var delivery: Delivery {
        if redirects != nil { return .maybeExecuted }
        return switch ending {
        case .response(let response): Delivery(response)
        case .refused: .maybeExecuted
        case .failed(let error): HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted).delivery
        }
    }

    /// Whether the server has said something here that the caller has to heed, and did not say there.
    fileprivate func saysMore(than other: RedirectFollower.Outcome) -> Bool {
        guard let response else { return false }
        guard let otherResponse = other.response else { return true }
        return response.header.retryAfter() ?? .zero > otherResponse.header.retryAfter() ?? .zero
    }
}
