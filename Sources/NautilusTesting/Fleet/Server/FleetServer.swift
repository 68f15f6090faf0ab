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
