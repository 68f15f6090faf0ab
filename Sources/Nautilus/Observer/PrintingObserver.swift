/// Prints what calls do: one line for each attempt with the decision that followed, one for each refresh, one for the
/// end of each connection of a feed or web socket, and one for a call that ends without an attempt.
/// ```swift
/// var observer: any CallObserver { PrintingObserver() }
/// ```
/// ```text
/// GetNote (call 17, attempt 1): GET https://api.example.com/notes/7: status 503 after 12 ms (maybeExecuted); BackoffRetrier: retry in 450 ms (backoff, retry 1)
/// GetNote (call 17, attempt 2): GET https://api.example.com/notes/7: 200 after 9 ms, stored; the server answered 304
/// Feed (call 18): connection ended after 30 s: connection lost (URLError -1005); BackoffRetrier: retry in 1 s (backoff, retry 1)
/// ```
/// No line contains a header, a query or a body. Meant for the console during development; for a log in production,
/// take the events themselves, or a call's whole ``CallTrace``.
public struct PrintingObserver: CallObserver {
    private let write: @Sendable (String) -> Void

    /// Creates an observer.
    ///
    /// - Parameter write: Takes each line, without a line break at its end. It runs on a task of the call, so it has to
    ///   return at once. Default: prints the line to the standard output.
    public init(write: @escaping @Sendable (String) -> Void = { print($0) }) {
        self.write = write
    }

    /// Writes the event's line, if it has one.
    public func observe(_ event: CallEvent) {
        switch event {
        case .attemptEnded(let call, let attempt):
            let request = attempt.exchanges.last.map { ": \($0.request)" } ?? ""
            write("\(call.description(of: attempt.number))\(request): \(attempt)")
        case .connectionEnded(let call, let end):
            write("\(call): \(end)")
        case .refreshStarted(let generation): write("refresh of generation \(generation) begins")
        case .refreshEnded(let generation?): write("refresh ended: generation \(generation)")
        case .refreshEnded(nil): write("refresh failed")
        case .callEnded(let call, let trace) where trace.attempts.isEmpty:
            let time = trace.duration.brief
            write("\(call): no attempt within \(time); its hook answered it, or it failed before the first")
        case .attemptStarted, .exchangeStarted, .exchangeEnded, .callEnded: break
        }
    }
}
