/// The record of a call: every attempt, every delay, and why each decision was taken.
///
/// It holds no header, no body and no query, so it can be logged. Printed, it is a timeline.
public struct CallTrace: Sendable, Hashable {
    /// One pass along the path of a call.
    public struct Attempt: Sendable, Hashable {
        /// The number, from 1.
        public var number: Int
        /// When it began, counted from the call's start.
        public var start: Duration
        /// How long it took, waiting for a credential or a network included, the delay after it not.
        public var duration: Duration
        /// How it ended.
        public var outcome: Outcome
        /// The decision after a failure; nil after a success, and when no retrier was asked.
        public var decision: Decision?
        /// The second send of an attempt that was slow; nil when it was not, or when the service does not hedge.
        public var hedge: Hedge?
        /// The requests that went out, in the order of their sending; empty when an interceptor answered by itself.
        public var exchanges: [Exchange] = []
        /// The source of a success's answer. The server, unless an interceptor made another of it.
        public var source: Source = .server
    }

    /// The source of the answer that an attempt has succeeded with.
    public enum Source: Sendable, Hashable {
        /// The server's, to the last exchange.
        case server
        /// An interceptor's, a cache's above all: the status of the server's own answer, 304 for one that was
        /// validated; nil when the attempt made no exchange of its own, or got no answer.
        case interceptor(serverStatus: Int?)
    }

    /// How an attempt ended.
    public enum Outcome: Sendable, Hashable {
        /// An accepted status, and a decoded result.
        case succeeded(status: Int)
        /// A failure: where, what, and how far the request may have got.
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
            /// Another error surfaces in its place.
            case fail
        }

        /// The type of the retrier that decided; `Call` where the call itself overruled it.
        public var retrier: String
        /// The next step.
        public var action: Action
        /// Why; nil when the retrier gives no reason.
        public var reason: RetryReason?
    }

    /// Which call it was.
    public var call = CallIdentity.none
    /// The request, without header and query; nil when none could be built.
    public var request: RequestSummary?
    /// All attempts, in order.
    public var attempts: [Attempt] = []
    /// Further facts worth knowing: nested retries.
    public var notes: [Note] = []
    /// From `schedule(with:)` to the end.
    public var duration: Duration = .zero

    /// Creates an empty trace.
    public init() {}

    /// All requests that went out, in order.
    public var exchanges: [Exchange] { attempts.flatMap(\.exchanges) }

    /// The retries: all attempts but the first.
    public var retries: Int { max(0, attempts.count - 1) }
}
