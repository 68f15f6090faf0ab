extension CallTrace {
    /// One request that went out, and its result: the record used by retriers, budgets, latencies, interceptors and the
    /// trace.
    public struct Exchange: Sendable, Hashable {
        /// The role of an exchange in its attempt.
        public enum Role: String, Sendable, Hashable {
            /// The attempt's own request.
            case main
            /// A subrequest: another request, which an interceptor has made with ``CallContext/send(_:)``.
            case subrequest
            /// The second send of a slow attempt.
            case hedge
            /// A hop to which a redirect has led.
            case redirect
        }

        /// How an exchange ended.
        public enum Outcome: Sendable, Hashable {
            /// With an answer of this status.
            case answered(status: Int)
            /// Without an answer.
            case failed(FailureKind)
            /// Not yet: it was still under way when its attempt ended, like a send that has lost to the other.
            case unfinished
        }

        /// The call that made the exchange, as ``CallIdentity/id``; if several calls share its answer, the call that
        /// asked.
        public var call: UInt64 { fields.value.call }
        /// The exchange's number in the call, from 1. A number is missing if a retrier refused to let a request go.
        public var number: Int { fields.value.number }
        /// The number of the exchange that this one continues: for a redirect or a hedge, the exchange that was sent
        /// first; for any other, its own number.
        public var root: Int { fields.value.root }
        /// The number of the attempt that the exchange belongs to, from 1.
        public var attempt: Int { fields.value.attempt }
        /// The exchange's role in the attempt.
        public var role: Role { fields.value.role }
        /// The request that was sent, without header and query.
        public var request: RequestSummary { fields.value.request }
        /// When the request was sent, counted from the call's start.
        public var start: Duration { fields.value.start }
        /// How long the server took from the sending to the answer's header, without the wait for a connection; nil
        /// when there was no answer. If a transport does not report when the header arrived, the time of the whole
        /// answer counts.
        public var latency: Duration? {
            get { fields.value.latency }
            set { fields.value.latency = newValue }
        }
        /// How long the exchange waited for a connection; zero if the transport does not report it.
        public var connectionWait: Duration {
            get { fields.value.connectionWait }
            set { fields.value.connectionWait = newValue }
        }
        /// How the exchange got its connection; nil if the transport does not report it.
        public var connection: Connection? {
            get { fields.value.connection }
            set { fields.value.connection = newValue }
        }
        /// How long the exchange took in all, including the wait for a connection and the body; for a streamed answer,
        /// up to its header.
        public var duration: Duration {
            get { fields.value.duration }
            set { fields.value.duration = newValue }
        }
        /// Where redirects led on the way to this exchange; nil unless it is a redirect.
        public var redirects: CallTrace.Redirects? {
            get { fields.value.redirects }
            set { fields.value.redirects = newValue }
        }
        /// How the exchange ended.
        public var outcome: Outcome {
            get { fields.value.outcome }
            set { fields.value.outcome = newValue }
        }
        /// How far the server may have got with the request.
        public var delivery: Delivery {
            get { fields.value.delivery }
            set { fields.value.delivery = newValue }
        }

        /// The tag of each credential that the request carried.
        package var tags: [any RequestTag] { fields.value.tags.list }

        private var fields: Boxed<Fields>

        /// Not a part of what tells records apart.
        fileprivate struct Tags: Sendable, Hashable {
            let list: [any RequestTag]

            static func == (left: Tags, right: Tags) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }

        fileprivate struct Fields: Sendable, Hashable {
            let call: UInt64
            let number: Int
            let root: Int
            let attempt: Int
            let role: Role
            let request: RequestSummary
            let tags: Tags
            let start: Duration
            var latency: Duration?
            var connectionWait: Duration = .zero
            var connection: Connection?
            var duration: Duration
            var redirects: CallTrace.Redirects?
            var outcome: Outcome
            var delivery: Delivery
        }

        package init(
            call: UInt64,
            number: Int,
            root: Int,
            attempt: Int,
            role: Role,
            request: RequestSummary,
            tags: [any RequestTag] = [],
            start: Duration,
            latency: Duration? = nil,
            connectionWait: Duration = .zero,
            connection: Connection? = nil,
            duration: Duration,
            redirects: CallTrace.Redirects? = nil,
            outcome: Outcome,
            delivery: Delivery
        ) {
            fields = Boxed(
                Fields(
                    call: call,
                    number: number,
                    root: root,
                    attempt: attempt,
                    role: role,
                    request: request,
                    tags: Tags(list: tags),
                    start: start,
                    latency: latency,
                    connectionWait: connectionWait,
                    connection: connection,
                    duration: duration,
                    redirects: redirects,
                    outcome: outcome,
                    delivery: delivery
                )
            )
        }

        /// The status of the answer; nil when there was none.
        public var status: Int? {
            if case .answered(let status) = outcome { status } else { nil }
        }
    }
}

extension CallTrace.Exchange.Outcome: CustomStringConvertible {
    /// The status, or the kind of failure.
    public var description: String {
        switch self {
        case .answered(let status): "\(status)"
        case .failed(let kind): kind.description
        case .unfinished: "still under way"
        }
    }
}

extension CallTrace.Exchange: CustomStringConvertible {
    /// Role, request and outcome, as in `redirect: GET https://api.example.com/new: 200 after 12 ms`.
    public var description: String {
        let ending =
            switch outcome {
            case .answered(let status): "\(status) after \(duration.brief)\(connection?.addition ?? "")"
            case .failed(let kind): "\(kind), after \(duration.brief) (\(delivery.rawValue))\(repetition)"
            case .unfinished: "still under way after \(duration.brief)"
            }
        return "\(role.rawValue): \(request): \(ending)"
    }

    /// The transport's repeats, to be appended to a failure.
    private var repetition: String { connection?.repetition.map { ", \($0)" } ?? "" }
}

extension CallTrace.Exchange {
    /// How an exchange got its connection, and how long each step took, one after the other.
    public struct Connection: Sendable, Hashable {
        /// How long the look-up of the host's name took; zero when there was none.
        public let nameLookup: Duration
        /// How long it took to connect to the address, or to the proxy.
        public let connect: Duration
        /// How long it then took until sending was secure, by TLS and through a proxy's tunnel; zero without either.
        public let secure: Duration
        /// How often the transport has repeated the request by itself, because a kept connection ended under it before any
        /// byte of an answer: the server may have executed it as often, and once more.
        ///
        /// `CurlTransport` counts this, by libcurl's own callback; zero from transports that cannot, such as
        /// `URLSessionTransport`.
        public let repeats: Int
        /// Whether an earlier exchange left the connection behind; then no step took any time.
        public var isReused: Bool { [nameLookup, connect, secure].allSatisfy { $0 == .zero } }

        /// A kept connection, reused.
        public static let reused = Connection()

        /// Creates the record of a new connection.
        ///
        /// - Parameters:
        ///   - nameLookup: How long the look-up of the host's name took. Default: zero.
        ///   - connect: How long it took to connect. Default: zero.
        ///   - secure: How long it then took until sending was secure. Default: zero.
        ///   - repeats: How often the transport has repeated the request by itself. Default: zero.
        public init(
            nameLookup: Duration = .zero,
            connect: Duration = .zero,
            secure: Duration = .zero,
            repeats: Int = 0
        ) {
            self.nameLookup = nameLookup
            self.connect = connect
            self.secure = secure
            self.repeats = repeats
        }

        /// The repeats, and the steps that took time, to be appended to the exchange's ending; empty for a kept
        /// connection.
        fileprivate var addition: String {
            let steps = [("name", nameLookup), ("connection", connect), ("TLS", secure)].filter { $0.1 > .zero }
                .map { "\($0.0) \($0.1.brief)" }
            let new = steps.isEmpty ? nil : "new: \(steps.joined(separator: ", "))"
            let parts = [repetition, new].compactMap(\.self)
            return parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))"
        }

        /// The repeats in words; nil for none.
        var repetition: String? {
            guard repeats > 0 else { return nil }
            let times = repeats > 1 ? ", \(repeats) times" : ""
            return "repeated on \(isReused ? "another" : "a new") connection\(times)"
        }
    }
}

extension CallTrace {
    /// The result of a slow attempt's second send.
    public enum Hedge: Sendable, Hashable {
        /// It was sent this long after the first.
        ///
        /// - Parameter winner: The send whose answer the attempt took; nil when both failed.
        case sent(after: Duration, winner: Sending?)
        /// The attempt was slow enough for a second send, but none was made.
        case notSent(CallTrace.Hedge.Reason)
    }

    /// One of the two sends of a hedged attempt.
    public enum Sending: String, Sendable, Hashable {
        /// The send that every attempt begins with.
        case first
        /// The hedge.
        case second
    }
}

extension CallTrace.Hedge {
    /// Why a slow attempt was not sent a second time.
    public enum Reason: Sendable, Hashable {
        /// The request does not allow it.
        case notAllowed
        /// Sent twice, the request might act twice: its method is not idempotent, and it has no `Idempotency-Key`.
        case notIdempotent
        /// The body is a stream, which only one send can read.
        case streamedBody
        /// The request is part of a refresh: sent twice, it might spend a credential twice.
        case refresh
        /// The session in which the request was authorized is over.
        case sessionOver
        /// Too few attempts have succeeded to tell what is slow.
        case tooFewSamples
        /// The attempt's timeout passes before the hedge's delay.
        case timeoutFirst(Duration)
        /// The time left until the timeout or the deadline is less than an attempt to the origin usually takes.
        case cannotFinish(remaining: Duration, usual: Duration)
        /// The origin has ordered a pause, and this much of it is left.
        case pause(Duration)
        /// An interceptor of this type would have held back another request.
        case heldBack(by: String)
        /// The retry budget shared by the calls to the origin is used up.
        case budget
    }
}

extension CallTrace.Hedge: CustomStringConvertible {
    /// The result, in a few words.
    public var description: String {
        switch self {
        case .sent(let delay, .first): "hedged after \(delay.brief): the first answer came from the first send"
        case .sent(let delay, .second): "hedged after \(delay.brief): the first answer came from the second send"
        case .sent(let delay, nil): "hedged after \(delay.brief): neither send was answered well"
        case .notSent(let reason): "not hedged: \(reason)"
        }
    }
}

extension CallTrace.Hedge.Reason: CustomStringConvertible {
    /// The reason, with its figures.
    public var description: String {
        switch self {
        case .notAllowed: "the request does not allow it"
        case .notIdempotent: "not idempotent, and without an Idempotency-Key"
        case .streamedBody: "the body is a stream"
        case .refresh: "part of a refresh"
        case .sessionOver: "the session is over"
        case .tooFewSamples: "too few attempts to know what is slow"
        case .timeoutFirst(let timeout): "the timeout of \(timeout.brief) comes first"
        case .cannotFinish(let remaining, let usual):
            "only \(remaining.brief) left for an attempt that usually takes \(usual.brief)"
        case .pause(let pause): "the origin asked all calls to pause, \(pause.brief) left"
        case .heldBack(let interceptor): "\(interceptor) would hold it back"
        case .budget: "the retry budget is used up"
        }
    }
}
