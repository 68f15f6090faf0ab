import Foundation
import Nautilus

/// The server that a ``FleetSimulation`` calls, as far as it matters to retries: its speed, its queue, its failures.
///
/// ```swift
/// FleetServer(
///     workers: 10,
///     serviceTime: .constant(.milliseconds(10)),  // 1000 requests a second
///     queueLimit: 2000,
///     outages: [FleetOutage(.stalled, from: .seconds(10), for: .seconds(10))]
/// )
/// ```
/// Requests are served in the order of arrival. The server does not notice when a caller hangs up: the request stays in
/// the queue and is served in vain, as by most servers. That is what makes an overload last.
public struct FleetServer: Sendable {
    /// How many requests are served at once; nil for any number.
    public var workers: Int?
    /// How long a worker takes for one request.
    public var serviceTime: FleetLatency
    /// How many requests may wait; any further request gets a 503 at once. Nil for any number.
    public var queueLimit: Int?
    /// How long a request may wait; after that it gets a 503 without any work. Nil for as long as it takes.
    public var queueTimeout: Duration?
    /// The time that a request takes to the server, and that an answer takes back.
    public var hop: FleetLatency
    /// The times at which the server fails to work properly.
    public var outages: [FleetOutage]
    /// The share of requests that fail with a 500 after the work, with or without an outage: failures that a retry
    /// repairs.
    public var failureRate: Double
    /// The rate at which the server lets requests in; nil for any rate.
    public var rateLimit: FleetRateLimit?
    /// Whether each path has a version. A GET returns the version as its `ETag`. A request with another method changes
    /// the version, unless its `If-Match` names a different one: then it gets a 412, after the work (RFC 9110 §13.1.1).
    public var hasVersions: Bool
    /// Creates the answer to a request that was served; a server with versions adds the `ETag`.
    public var respond: @Sendable (HttpRequest) -> HttpResponse<Data>

    /// Creates a server; by default without any limit, and answering at once.
    ///
    /// - Parameters:
    ///   - workers: How many requests are served at once. Default: nil, any number.
    ///   - serviceTime: How long a worker takes for one request. Default: no time.
    ///   - queueLimit: How many requests may wait. Default: nil, any number.
    ///   - queueTimeout: How long a request may wait. Default: nil, as long as it takes.
    ///   - hop: The time that a request takes to the server, and that an answer takes back. Default: no time. A request
    ///     whose caller hangs up while it is on its way does not arrive.
    ///   - outages: The times at which the server fails to work properly. Default: none.
    ///   - failureRate: The share of requests that fail with a 500 after the work. Default: 0.
    ///   - rateLimit: The rate at which the server lets requests in. Default: nil, any rate.
    ///   - hasVersions: Whether each path has a version, for optimistic locking. Default: false.
    ///   - respond: Creates the answer to a request that was served. Default: 200 without a body.
    public init(
        workers: Int? = nil,
        serviceTime: FleetLatency = .constant(.zero),
        queueLimit: Int? = nil,
        queueTimeout: Duration? = nil,
        hop: FleetLatency = .constant(.zero),
        outages: [FleetOutage] = [],
        failureRate: Double = 0,
        rateLimit: FleetRateLimit? = nil,
        hasVersions: Bool = false,
        respond: @escaping @Sendable (HttpRequest) -> HttpResponse<Data> = { _ in HttpResponse(body: Data()) }
    ) {
        self.workers = workers
        self.serviceTime = serviceTime
        self.queueLimit = queueLimit
        self.queueTimeout = queueTimeout
        self.hop = hop
        self.outages = outages
        self.failureRate = failureRate
        self.rateLimit = rateLimit
        self.hasVersions = hasVersions
        self.respond = respond
    }
}

/// A time in which a ``FleetServer`` fails to work properly.
public struct FleetOutage: Hashable, Sendable {
    /// The kind of an outage.
    public enum Kind: Hashable, Sendable {
        /// The server accepts requests but does no work, as with a lock that is never released or a database that does
        /// not answer. The queue grows, and is still there when the outage is over.
        case stalled
        /// The server works at this share of its speed: with 0.5, every request takes twice as long.
        case slowed(to: Double)
        /// The server does not listen: connections are refused, and requests in the queue or at work are lost.
        case unreachable
        /// The server answers a share of the requests with a status, without any work; 1 means all of them.
        case failing(status: Int, share: Double)
    }

    /// The kind of the outage.
    public let kind: Kind
    /// When it begins, counted from the simulation's start.
    public let start: Duration
    /// When the outage is over: the first moment at which all is well.
    public let end: Duration

    /// Creates an outage.
    ///
    /// If two outages overlap and change the server's speed, the one that begins first counts while it lasts.
    ///
    /// - Parameters:
    ///   - kind: The kind of the outage.
    ///   - start: When the outage begins, counted from the simulation's start; a negative time counts as zero.
    ///   - duration: How long the outage lasts; a negative time counts as zero.
    public init(_ kind: Kind, from start: Duration, for duration: Duration) {
        self.kind = kind
        self.start = start.clampedToCentury
        self.end = self.start + duration.clampedToCentury
    }

    func contains(_ time: Duration) -> Bool {
        start <= time && time < end
    }

    /// The share of its speed at which the server works; nil when the outage does not affect it.
    var speed: Double? {
        switch kind {
        case .stalled: 0
        case .slowed(let speed): max(0, speed)
        case .unreachable, .failing: nil
        }
    }
}

/// A limit on how many requests a ``FleetServer`` lets in; beyond it, the server answers 429 with `Retry-After`,
/// without any work.
///
/// There is one limit for the whole fleet, like that of a gateway which counts per API rather than per caller. A burst
/// may come at once; after it, requests pass at the rate (the "generic cell rate algorithm", as nginx's `limit_req …
/// nodelay`).
public struct FleetRateLimit: Hashable, Sendable {
    let interval: Duration
    let tolerance: Duration

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - perSecond: How many requests pass per second in the long run. Less than 0.001 counts as 0.001.
    ///   - burst: How many may come at once after a quiet time. 1…1 000 000. Default: 1, only the requests of the rate.
    public init(perSecond: Double, burst: Int = 1) {
        // Whole nanoseconds, so that ten per second are neither more nor less.
        self.interval = .nanoseconds(Int64((1e9 / max(perSecond, 0.001)).rounded()))
        self.tolerance = interval * (min(max(burst, 1), 1_000_000) - 1)
    }

    /// The state of a limit: the time at which all requests so far would have passed at exactly the rate.
    struct State: Sendable {
        private var paidUntil: Duration?

        /// Lets a request in and returns nil, or returns in how many whole seconds the next one can pass.
        mutating func refusal(at time: Duration, by limit: FleetRateLimit) -> Int? {
            let due = max(paidUntil ?? time, time)
            let wait = due - limit.tolerance - time
            if wait > .zero { return Int((wait / .seconds(1)).rounded(.up)) }
            paidUntil = due + limit.interval
            return nil
        }
    }
}

/// A distribution of durations in a ``FleetServer``, of serving a request or of a hop through the network.
///
/// ```swift
/// FleetLatency.logNormal(median: .milliseconds(8), p99: .milliseconds(60))  // most are quick, a few are not
/// ```
public struct FleetLatency: Sendable {
    private let drawing: @Sendable (any RandomSource) -> Duration

    /// Creates a distribution of your own; a negative duration counts as zero.
    ///
    /// - Parameter draw: Draws one duration, from the source alone, so that the same seed gives the same run.
    public static func custom(_ draw: @escaping @Sendable (_ random: any RandomSource) -> Duration) -> FleetLatency {
        FleetLatency(drawing: draw)
    }

    /// Always the same duration.
    public static func constant(_ duration: Duration) -> FleetLatency {
        .custom { _ in duration }
    }

    /// Any duration in the range, all equally likely.
    public static func uniform(_ range: ClosedRange<Duration>) -> FleetLatency {
        .custom { range.lowerBound + (range.upperBound - range.lowerBound) * $0.nextFraction() }
    }

    /// Often short, sometimes several times the mean: the distribution that queueing theory assumes.
    public static func exponential(mean: Duration) -> FleetLatency {
        .custom { mean * -log($0.nextPositiveFraction()) }
    }

    /// The normal distribution, folded at zero, since no duration is negative.
    public static func normal(mean: Duration, deviation: Duration) -> FleetLatency {
        .custom { random in
            let duration = mean + deviation * random.nextNormal()
            return duration < .zero ? .zero - duration : duration
        }
    }

    /// A log-normal distribution, with the long tail of real services.
    ///
    /// - Parameters:
    ///   - median: Half of the durations are shorter.
    ///   - p99: One duration in a hundred is longer.
    public static func logNormal(median: Duration, p99: Duration) -> FleetLatency {
        // The 99th percentile of a normal distribution lies 2.3263 standard deviations above the mean.
        let deviation = log(p99 / median) / 2.326347874
        return .custom { median * exp(deviation * $0.nextNormal()) }
    }

    func draw(from random: any RandomSource) -> Duration {
        drawing(random).clampedToCentury
    }
}

extension RandomSource {
    /// A draw greater than zero, so that it has a logarithm.
    func nextPositiveFraction() -> Double {
        max(nextFraction(), .leastNormalMagnitude)
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958).
    fileprivate func nextNormal() -> Double {
        let radius = (-2 * log(nextPositiveFraction())).squareRoot()
        return radius * cos(2 * .pi * nextFraction())
    }
}
