import Foundation
import Nautilus

/// The server that a ``FleetSimulation`` calls, as far as retries meet it: its speed, its queue, its failures.
///
/// ```swift
/// FleetServer(
///     workers: 10,
///     serviceTime: .constant(.milliseconds(10)),  // 1000 requests a second
///     queueLimit: 2000,
///     outages: [FleetOutage(.stalled, from: .seconds(10), for: .seconds(10))]
/// )
/// ```
/// Requests are served in the order in which they arrive. A caller that hangs up is not noticed: its request stays in
/// the queue and is served in vain, as by most servers. That is what makes an overload last.
public struct FleetServer: Sendable {
    /// How many requests are served at once; nil for any number.
    public var workers: Int?
    /// How long a worker takes for one.
    public var serviceTime: FleetLatency
    /// How many wait; one more gets a 503 at once. Nil for any number.
    public var queueLimit: Int?
    /// How long one waits; after that it gets a 503 without any work. Nil for as long as it takes.
    public var queueTimeout: Duration?
    /// The time that a request takes to the server, and an answer back.
    public var hop: FleetLatency
    /// The times at which it does not do what it should.
    public var outages: [FleetOutage]
    /// The share of the requests that fail with a 500 after the work, outage or not: failures that a retry mends.
    public var failureRate: Double
    /// The rate at which it lets requests in; nil for any.
    public var rateLimit: FleetRateLimit?
    /// Whether each path has a version. A GET tells it as its `ETag`; a request with another method changes it, unless
    /// its `If-Match` names another one: that gets a 412, after the work (RFC 9110 §13.1.1).
    public var hasVersions: Bool
    /// The answer to a request that it has served; a server with versions adds the `ETag`.
    public var respond: @Sendable (HttpRequest) -> HttpResponse<Data>

    /// Creates a server; by default one without any limit, which answers at once.
    ///
    /// - Parameters:
    ///   - workers: How many requests are served at once. Default: nil, any number.
    ///   - serviceTime: How long a worker takes for one. Default: no time.
    ///   - queueLimit: How many wait. Default: nil, any number.
    ///   - queueTimeout: How long one waits. Default: nil, as long as it takes.
    ///   - hop: The time that a request takes to the server, and an answer back. Default: no time. A request whose
    ///     caller hangs up on the way there does not arrive.
    ///   - outages: The times at which it does not do what it should. Default: none.
    ///   - failureRate: The share of the requests that fail with a 500 after the work. Default: 0.
    ///   - rateLimit: The rate at which it lets requests in. Default: nil, any.
    ///   - hasVersions: Whether each path has a version, for optimistic locks. Default: false.
    ///   - respond: The answer to a request that it has served. Default: 200 without a body.
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

/// A time in which a ``FleetServer`` does not do what it should.
public struct FleetOutage: Hashable, Sendable {
    /// The kind of an outage.
    public enum Kind: Hashable, Sendable {
        /// It takes requests and does no work: a lock that is never released, a database that does not answer. The
        /// queue grows, and is still there when the outage is over.
        case stalled
        /// It works at this share of its speed: 0.5 for every request taking twice as long.
        case slowed(to: Double)
        /// It does not listen: connections are refused, and requests in the queue or at work are lost.
        case unreachable
        /// It answers a share of the requests with a status, without any work: 1 for all of them.
        case failing(status: Int, share: Double)
    }

    /// The kind of the outage.
    public let kind: Kind
    /// When it begins, counted from the simulation's start.
    public let start: Duration
    /// When it is over: the first moment at which all is well.
    public let end: Duration

    /// Creates an outage.
    ///
    /// If two overlap and change the server's speed, the one that begins first counts while it lasts.
    ///
    /// - Parameters:
    ///   - kind: The kind of the outage.
    ///   - start: When it begins, counted from the simulation's start; a negative one counts as zero.
    ///   - duration: How long it lasts; a negative one counts as zero.
    public init(_ kind: Kind, from start: Duration, for duration: Duration) {
        self.kind = kind
        self.start = start.clampedToCentury
        self.end = self.start + duration.clampedToCentury
    }

    func contains(_ time: Duration) -> Bool {
        start <= time && time < end
    }

    /// The share of its speed at which the server works; nil when the outage does not change it.
    var speed: Double? {
        switch kind {
        case .stalled: 0
        case .slowed(let speed): max(0, speed)
        case .unreachable, .failing: nil
        }
    }
}

/// How many requests a ``FleetServer`` lets in; beyond them it answers 429 with `Retry-After`, without any work.
///
/// One limit for the whole fleet, as a gateway has it that counts by API and not by caller. A burst may come at once;
/// after it, requests pass at the rate (the "generic cell rate algorithm", as nginx's `limit_req … nodelay`).
public struct FleetRateLimit: Hashable, Sendable {
    let interval: Duration
    let tolerance: Duration

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - perSecond: How many pass in a second, in the long run. Less than 0.001 counts as that.
    ///   - burst: How many may come at once after a quiet time. 1…1 000 000. Default: 1, none but those of the rate.
    public init(perSecond: Double, burst: Int = 1) {
        // Whole nanoseconds, so that ten in a second are neither more nor less.
        self.interval = .nanoseconds(Int64((1e9 / max(perSecond, 0.001)).rounded()))
        self.tolerance = interval * (min(max(burst, 1), 1_000_000) - 1)
    }

    /// The state of a limit: when the requests so far would have passed at exactly the rate.
    struct State: Sendable {
        private var paidUntil: Duration?

        /// Lets a request in, or says in how many whole seconds the next one can pass.
        mutating func refusal(at time: Duration, by limit: FleetRateLimit) -> Int? {
            let due = max(paidUntil ?? time, time)
            let wait = due - limit.tolerance - time
            if wait > .zero { return Int((wait / .seconds(1)).rounded(.up)) }
            paidUntil = due + limit.interval
            return nil
        }
    }
}

/// How long something takes in a ``FleetServer``: serving a request, a hop of the network.
///
/// ```swift
/// FleetLatency.logNormal(median: .milliseconds(8), p99: .milliseconds(60))  // most are quick, a few are not
/// ```
public struct FleetLatency: Sendable {
    private let drawing: @Sendable (any RandomSource) -> Duration

    /// A distribution of your own; a negative duration counts as zero.
    ///
    /// - Parameter draw: One duration, drawn from the source alone, so that the same seed gives the same run.
    public static func custom(_ draw: @escaping @Sendable (_ random: any RandomSource) -> Duration) -> FleetLatency {
        FleetLatency(drawing: draw)
    }

    /// Always the same.
    public static func constant(_ duration: Duration) -> FleetLatency {
        .custom { _ in duration }
    }

    /// Anything in the range, all equally likely.
    public static func uniform(_ range: ClosedRange<Duration>) -> FleetLatency {
        .custom { range.lowerBound + (range.upperBound - range.lowerBound) * $0.nextFraction() }
    }

    /// Often short, sometimes several times the mean: the distribution that queueing theory assumes.
    public static func exponential(mean: Duration) -> FleetLatency {
        .custom { mean * -log($0.nextPositiveFraction()) }
    }

    /// The normal distribution, folded at zero, since nothing takes less than no time.
    public static func normal(mean: Duration, deviation: Duration) -> FleetLatency {
        .custom { random in
            let duration = mean + deviation * random.nextNormal()
            return duration < .zero ? .zero - duration : duration
        }
    }

    /// The long tail of real services.
    ///
    /// - Parameters:
    ///   - median: Half take less.
    ///   - p99: One in a hundred takes longer.
    public static func logNormal(median: Duration, p99: Duration) -> FleetLatency {
        // 2.3263 standard deviations above the mean lies the 99th percentile of a normal distribution.
        let deviation = log(p99 / median) / 2.326347874
        return .custom { median * exp(deviation * $0.nextNormal()) }
    }

    func draw(from random: any RandomSource) -> Duration {
        drawing(random).clampedToCentury
    }
}

extension RandomSource {
    /// A draw that has a logarithm.
    func nextPositiveFraction() -> Double {
        max(nextFraction(), .leastNormalMagnitude)
    }

    /// A draw from the standard normal distribution (Box and Muller, 1958).
    fileprivate func nextNormal() -> Double {
        let radius = (-2 * log(nextPositiveFraction())).squareRoot()
        return radius * cos(2 * .pi * nextFraction())
    }
}
