/// The record of a call: every attempt, every delay, and why each decision was taken.
///
/// It holds no header, no body and no query, so it can be logged. When printed, it is a timeline.
public struct CallTrace: Sendable, Hashable {
    /// One pass along the path of a call.
    public struct Attempt: Sendable, Hashable {
        /// The number, from 1.
        public var number: Int
        /// When it began, counted from the call's start.
        public var start: Duration
        /// How long it took, including waits for a credential or a network, but not the delay after it.
        public var duration: Duration
        /// How it ended.
        public var outcome: Outcome
        /// The decision after a failure; nil after a success, or when no retrier was asked.
        public var decision: Decision?
        /// The result of the second send of a slow attempt; nil when it was not slow, or when the service does not
        /// hedge.
        public var hedge: Hedge?
        /// The requests that went out, in the order in which they were sent; empty when an interceptor answered by
        /// itself.
        public var exchanges: [Exchange] = []
        /// The source of the answer: the server, unless an interceptor changed it, or made it, also in place of a failure.
        public var source: Source = .server

        package init(
            number: Int,
            start: Duration,
            duration: Duration,
            outcome: Outcome,
            decision: Decision? = nil,
            hedge: Hedge? = nil,
            exchanges: [Exchange] = [],
            source: Source = .server
        ) {
            self.number = number
            self.start = start
            self.duration = duration
            self.outcome = outcome
            self.decision = decision
            self.hedge = hedge
            self.exchanges = exchanges
            self.source = source
        }
    }

    /// The source of the answer that an attempt has succeeded with.
    public enum Source: Sendable, Hashable {
        /// The server's answer to the last exchange.
        case server
        /// An interceptor, above all a cache. The status is that of the server's own answer, such as 304 for a stored
        /// answer that was validated; nil when the attempt made no exchange of its own, or got no answer.
        case interceptor(serverStatus: Int?)
    }

    /// How an attempt ended.
    public enum Outcome: Sendable, Hashable {
        /// A success: an accepted status, and a decoded result.
        case succeeded(status: Int)
        /// A failure: the stage, the kind, and how far the request may have got.
        case failed(CallStage, FailureKind, Delivery)
    }

    /// The decision after a failure.
    public struct Decision: Sendable, Hashable {
        /// The next step.
        public enum Action: Sendable, Hashable {
            /// Try again after the delay.
            case retry(after: Duration)
            /// The error surfaces.
            case stop
            /// Another error surfaces instead.
            case fail
        }

        /// The type of the retrier that decided; `Call` when the call itself overruled it.
        public var retrier: String
        /// The next step.
        public var action: Action
        /// The reason; nil when the retrier gives none. When another error surfaces, that error in a few words.
        public var reason: RetryReason?

        package init(
            retrier: String,
            action: Action,
            reason: RetryReason? = nil
        ) {
            (self.retrier, self.action, self.reason) = (retrier, action, reason)
        }
    }

    /// The identity of the call.
    public var call = CallIdentity.none
    /// The request, without header and query; nil when none could be built.
    public var request: RequestSummary?
    /// All attempts, in order.
    public var attempts: [Attempt] = []
    /// The time from `schedule(with:)` to the end.
    public var duration: Duration = .zero

    /// Creates an empty trace.
    public init() {}

    /// All requests that went out, in order.
    public var exchanges: [Exchange] { attempts.flatMap(\.exchanges) }

    /// The number of retries: all attempts but the first.
    public var retries: Int { max(0, attempts.count - 1) }

    /// The delays that were decided on before the retries, in order; zero for an immediate retry. Time limits do not
    /// count.
    public var delays: [Duration] {
        attempts.compactMap { attempt in
            guard case .retry(let delay)? = attempt.decision?.action else { return nil }
            return delay
        }
    }
}

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
    /// If the answer is not the server's own, the line says so: `200 after 9 ms, stored; the server answered 304`.
    public var description: String {
        let count = attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts"
        let head = "\(request?.description ?? "no request"): \(count) in \(duration.brief)"
        return ([head] + attempts.flatMap(\.lines)).joined(separator: "\n")
    }
}

extension CallTrace.Attempt {
    fileprivate var lines: [String] {
        let number = "#\(number)".padded(to: 4)
        let first = "  \(number)at \(start.brief.padded(to: 10)) \(ending)"
        // The first line already tells of the main exchange, and a hedge has a line of its own.
        let besides = exchanges.filter { $0.role == .subrequest || $0.role == .redirect }.map(\.description)
        let repeats = exchanges.filter { $0.role == .main || $0.role == .hedge }.compactMap(\.connection?.repetition)
        let details = besides + repeats + [hedge?.description, decision?.description].compactMap { $0 }
        return [first] + details.map { "      \($0)" }
    }
}

extension CallTrace.Attempt: CustomStringConvertible {
    /// How it ended and the decision that followed, on one line.
    public var description: String { ending + (decision.map { "; \($0)" } ?? "") }

    private var ending: String { outcome.text(after: duration) + source.addition }
}

extension CallTrace.Source: CustomStringConvertible {
    /// The source, in a few words.
    public var description: String {
        switch self {
        case .server: "the server"
        case .interceptor(nil): "an interceptor, nothing was sent"
        case .interceptor(304?): "stored; the server answered 304"
        case .interceptor(let status?): "an interceptor; the server answered \(status)"
        }
    }

    /// The source if it is worth a mention, to be appended to the attempt's ending.
    fileprivate var addition: String { self == .server ? "" : ", \(self)" }
}

extension CallTrace.Outcome: CustomStringConvertible {
    /// The status; of a failure, the kind, the stage and the delivery, as in
    /// `connection lost (URLError -1005), in send (maybeExecuted)`.
    public var description: String {
        switch self {
        case .succeeded(let status): "\(status)"
        case .failed(.validate, .status(let status), let delivery): "status \(status) (\(delivery.rawValue))"
        case .failed(let stage, let kind, let delivery): "\(kind), in \(stage.rawValue) (\(delivery.rawValue))"
        }
    }

    func text(after duration: Duration) -> String {
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
        let reason = reason.map { action == .fail ? ": \($0)" : " (\($0))" } ?? ""
        return "\(retrier): \(action)\(reason)"
    }
}

extension CallTrace.Decision.Action: CustomStringConvertible {
    /// The next step, in a few words.
    public var description: String {
        switch self {
        case .retry(.zero): "retry at once"
        case .retry(let delay): "retry in \(delay.brief)"
        case .stop: "no retry"
        case .fail: "gave up"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        count < width ? self + String(repeating: " ", count: width - count) : self + " "
    }
}
