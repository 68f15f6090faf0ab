/// One of the two sends of a hedge, as the rest of its path has to know it.
package final class HedgedSend: Sendable {
    let sending: CallTrace.Sending
    /// How long its exchange may take, if less than the attempt's timeout; nil if not.
    let timeLeft: Duration?
    /// The number of the exchange that it repeats; nil for the first send.
    let root: Int?
    let progress: ExchangeProgress
    /// Called with the number of the exchange, right before the request is written, once it has been authorized; an error
    /// keeps it from being written.
    let willWrite: @Sendable (Int) throws -> Void

    package init(
        _ sending: CallTrace.Sending,
        of root: Int? = nil,
        within timeLeft: Duration? = nil,
        _ progress: ExchangeProgress,
        willWrite: @escaping @Sendable (Int) throws -> Void
    ) {
        (self.sending, self.root, self.timeLeft) = (sending, root, timeLeft)
        (self.progress, self.willWrite) = (progress, willWrite)
    }
}

/// A call whose attempts may be sent twice.
package struct HedgeableCall: Sendable {
    let book: ExchangeBook
    package let clock: any Clock<Duration>
    /// The call's deadline; nil for none.
    package let deadline: Duration?
    /// Whether the user's request allows it.
    package let allowsHedging: Bool

    /// Measures the time since the call began.
    package var stopwatch: Stopwatch { book.stopwatch }

    /// Notes the result of a second send; nil when there is nothing to tell of.
    ///
    /// - Parameter isPossible: Whether the attempt could have been sent twice.
    package func note(_ result: CallTrace.Hedge?, isPossible: Bool = false) {
        book.noteHedge(result, isPossible: isPossible)
    }

    /// Notes that a budget has paid for the second send of an attempt.
    package func notePaid(attempt: Int) {
        book.noteHedgePaid(attempt: attempt)
    }
}

/// The part that hedging had in an attempt.
struct HedgeNote: Sendable {
    /// The result of the second send; nil when there was nothing to tell of.
    var result: CallTrace.Hedge?
    /// Whether the attempt could have been sent twice, so that its latency counts in deciding which such attempts are
    /// slow.
    var isPossible = false
    /// Whether the budget was asked for a second send, and has agreed.
    var isPaid = false
}
