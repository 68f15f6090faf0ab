extension CallTrace: CustomStringConvertible {
    /// The call as a timeline, one line per attempt.
    ///
    /// ```text
    /// GET https://api.example.com/notes: 3 attempts in 1.262 s
    ///   #1  at 0 ms       status 503 after 12 ms (maybeExecuted)
    ///       BackoffRetrier: retry in 450 ms (backoff, retry 1)
    ///   #2  at 462 ms     status 401 after 9 ms (rejected)
    ///       AuthorizationRetrier: retry at once (credential replaced, generation 2)
    ///   #3  at 521 ms     200 after 741 ms
    ///       hedged after 95 ms: the first answer came from the second send
    /// ```
    /// An answer that is not the server's own says so: `200 after 0 ms, without an exchange`.
    public var description: String {
        let count = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
        let head = "\(request?.description ?? "no request"): \(count) in \(duration.brief)"
        return ([head] + attempts.flatMap(\.lines) + notes.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension CallTrace.Attempt {
    fileprivate var lines: [String] {
        let number = "#\(number)".padded(to: 4)
        let first = "  \(number)at \(start.brief.padded(to: 10)) \(outcome.text(after: duration))\(source.text)"
        // The line itself tells of one exchange; a hedge has a line that says more.
        let besides = exchanges.filter { $0.role == .side || $0.role == .redirect }.map(\.description)
        let details = besides + [hedge?.description, decision?.description].compactMap { $0 }
        return [first] + details.map { "      \($0)" }
    }
}

extension CallTrace.Source {
    fileprivate var text: String {
        switch self {
        case .server: ""
        case .interceptor(nil): ", without an exchange"
        case .interceptor(let status?): ", from the server's \(status)"
        }
    }
}

extension CallTrace.Outcome {
    fileprivate func text(after duration: Duration) -> String {
        switch self {
        case .succeeded(let status): "\(status) after \(duration.brief)"
        case .failed(let stage, .status(let status), let delivery) where stage == .validate:
            "status \(status) after \(duration.brief) (\(delivery.rawValue))"
        case .failed(let stage, let kind, let delivery):
            "\(kind), in \(stage.rawValue), after \(duration.brief) (\(delivery.rawValue))"
        }
    }
}

extension CallTrace.Decision: CustomStringConvertible {
    /// The retrier, its decision, and the reason.
    public var description: String {
        let what =
            switch action {
            case .retry(.zero): "retry at once"
            case .retry(let delay): "retry in \(delay.brief)"
            case .stop: "no retry"
            case .fail: "fails with its own error"
            }
        return "\(retrier): \(what)" + (reason.map { " (\($0))" } ?? "")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        count < width ? self + String(repeating: " ", count: width - count) : self + " "
    }
}
