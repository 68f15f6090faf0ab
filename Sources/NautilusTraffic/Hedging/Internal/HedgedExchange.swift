import Foundation
import Nautilus

/// Sends a request, and sends it again when the first send is slow; the first good answer wins.
struct HedgedExchange: Sendable {
    typealias Outcome = Result<HttpResponse<Data>, any Error>

    let request: HttpRequest
    let context: AttemptContext
    let next: AttemptContext.Next
    let call: HedgeableCall
    let hedging: Hedging
    let delay: Duration

    private var stopwatch: Stopwatch { call.stopwatch }

    /// Sends until there is an answer to take, or all sends have failed.
    ///
    /// - Returns: The outcome that the attempt takes, and the result of the second send; nil when the first was quick.
    func run() async -> (outcome: Outcome, hedge: CallTrace.Hedge?) {
        let race = HedgeRace()
        let timer = Locked<(@Sendable () -> Void)?>(nil)
        defer { timer.withLock { $0.take() }?() }
        return await withTaskCancellationHandler {
            await run(race, timer)
        } onCancel: {
            race.cancel()
        }
    }

    private func run(
        _ race: HedgeRace,
        _ timer: Locked<(@Sendable () -> Void)?>
    ) async -> (outcome: Outcome, hedge: CallTrace.Hedge?) {
        let first = Locked<Written?>(nil)
        let isSecondWritten = Locked(false)
        let progress = ExchangeProgress(stopwatch)
        // The delay counts from when the request goes out; waiting for a connection, or in a queue, is not the server's.
        let hedged = HedgedSend(.first, progress) { [delay, clock = call.clock, stopwatch] number in
            first.withLock { $0 = Written(number: number, time: stopwatch.elapsed) }
            let end = TimeLimit(delay, on: clock).timer(besides: progress) { race.delayPassed() }
            // An interceptor may send the request again.
            let earlier = timer.withLock { timer in
                defer { timer = end }
                return timer
            }
            earlier?()
        }
        race.start(.first) { [next, request] in await Result { try await next(request, as: hedged) } }
        var hedge: CallTrace.Hedge?
        var failed: (sending: CallTrace.Sending, outcome: Outcome)?
        while true {
            switch await race.next() {
            case .delayPassed:
                // The attempt no longer wants an answer, or has had its second send.
                if race.isCancelled || hedge != nil { continue }
                guard let first = first.withLock({ $0 }) else { continue }
                if let reason = reasonNotToSend(since: first, progress) {
                    hedge = .notSent(reason)
                } else {
                    hedge = .sent(after: stopwatch.elapsed - first.time, winner: nil)
                    startSecond(in: race, after: first, progress, isSecondWritten)
                }

            case .ended(let sending, let outcome):
                let isWritten = isSecondWritten.withLock { $0 }
                if sending == .second, !isWritten {
                    hedge = .notSent(outcome.reasonNotSent)
                    if let failed { return (failed.outcome, hedge) }
                    continue
                }
                guard case .sent(let start, _) = hedge else { return (outcome, hedge) }
                if isAnswered(by: outcome) {
                    race.cancel(sending.other)
                    return (outcome, isWritten ? .sent(after: start, winner: sending) : nil)
                }
                guard let other = failed else {
                    failed = (sending, outcome)
                    continue
                }
                let (first, second) = sending == .first ? (outcome, other.outcome) : (other.outcome, outcome)
                return (second.saysMore(than: first) ? second : first, hedge)
            }
        }
    }

    /// A send that was written.
    private struct Written: Sendable {
        let number: Int
        let time: Duration
    }

    /// The rest of the attempt's time since its first send; nil for no limit.
    private func timeLeft(since first: Written, _ progress: ExchangeProgress) -> Duration? {
        context.timeout.map { $0 - (stopwatch.elapsed - first.time - progress.uncounted) }
    }

    private func reasonNotToSend(since first: Written, _ progress: ExchangeProgress) -> CallTrace.Hedge.Reason? {
        guard let origin = request.origin else { return .notAllowed }
        if context.isSessionOver { return .sessionOver }
        let left = [timeLeft(since: first, progress), call.deadline.map { $0 - stopwatch.elapsed }]
        return hedging.reasonNotToSend(to: origin, timeLeft: left.compactMap(\.self).min())
    }

    /// Starts the second send, which passes the interceptors without waiting, and is paid for when it goes out.
    private func startSecond(
        in race: HedgeRace,
        after first: Written,
        _ progress: ExchangeProgress,
        _ isWritten: Locked<Bool>
    ) {
        let left = timeLeft(since: first, progress)
        let own = ExchangeProgress(stopwatch)
        let second = HedgedSend(.second, of: first.number, within: left, own) { [self] _ in
            // The first answer may have come since.
            try Task.checkCancellation()
            guard let origin = request.origin, hedging.pays(to: origin) else { throw NotPaid() }
            isWritten.withLock { $0 = true }
            call.notePaid(attempt: context.number)
        }
        race.start(.second) { [next, request] in await Result { try await next(request, as: second) } }
    }

    /// Whether the attempt takes this outcome without waiting for the other send.
    private func isAnswered(by outcome: Outcome) -> Bool {
        guard let status = outcome.response?.status else { return false }
        if context.acceptedStatusCodes.contains(status) { return true }
        // The other send would get the same answer, unless this status only describes the moment. After a DELETE, a 404
        // may be the answer to the send that came second.
        return request.method.isSafe && status < 500 && ![408, 425, 429].contains(status)
    }
}

/// Thrown where a second send cannot be paid for.
private struct NotPaid: Error {}

extension CallTrace.Sending {
    fileprivate var other: CallTrace.Sending { self == .first ? .second : .first }
}

extension HedgedExchange.Outcome {
    /// The response, including that of a refused redirect.
    fileprivate var response: HttpResponse<Data>? {
        switch self {
        case .success(let response): response
        case .failure(let error as HttpError): error.response
        case .failure: nil
        }
    }

    /// Why a second send was not made.
    fileprivate var reasonNotSent: CallTrace.Hedge.Reason {
        guard case .failure(let error) = self else { return .heldBack(by: "an interceptor") }
        let cause = (error as? HttpError)?.underlying ?? error
        switch cause {
        case is NotPaid: return .budget
        case is RefreshError: return .sessionOver
        case let refusal as AttemptContext.WouldWait: return .heldBack(by: refusal.interceptor ?? "an interceptor")
        default: return .heldBack(by: (error as? HttpError)?.cause ?? "an interceptor")
        }
    }

    /// Whether the server has said something here that the caller has to know and that is missing in `other`.
    fileprivate func saysMore(than other: HedgedExchange.Outcome) -> Bool {
        guard let response else { return false }
        guard let otherResponse = other.response else { return true }
        return response.header.retryAfter() ?? .zero > otherResponse.header.retryAfter() ?? .zero
    }
}
