import Nautilus

/// The effects of a policy on the server and on its callers.
public struct FleetReport: Hashable, Sendable {
    /// The policy's name.
    public let policy: String
    /// The seed of everything random.
    public let seed: UInt64
    /// How many clients there were.
    public let clients: Int
    /// When they called.
    public let load: FleetLoad
    /// The faults of the server, and when they were.
    public let outages: [FleetOutage]
    /// The counts of each second, until the last call had ended.
    public let seconds: [FleetSecond]
    /// When the last call ended, counted from the simulation's start.
    public let end: Duration

    /// How long the calls took that succeeded, the shortest first.
    private let durations: [Duration]

    init(
        policy: String,
        seed: UInt64,
        clients: Int,
        load: FleetLoad,
        outages: [FleetOutage],
        recorded: FleetRecorder.State
    ) {
        self.policy = policy
        self.seed = seed
        self.clients = clients
        self.load = load
        self.outages = outages
        self.seconds = recorded.seconds
        self.end = recorded.end
        self.durations = recorded.durations.sorted()
    }

    /// How many calls there were.
    public var calls: Int { total(\.begun) }
    /// How many requests were sent, first ones and retries.
    public var sends: Int { total(\.sends) }
    /// How many calls succeeded.
    public var succeeded: Int { total(\.succeeded) }

    /// Requests per call: 1 without any retry, `maxAttempts` when every attempt fails. 0 without a call.
    public var amplification: Double { calls == 0 ? 0 : Double(sends) / Double(calls) }

    /// The share of the calls that succeeded, 0...1; 1 without a call.
    public var completion: Double { calls == 0 ? 1 : Double(succeeded) / Double(calls) }

    /// Calls that succeeded, per second of the load; where all began at once, per second until the last had ended.
    public var goodput: Double {
        let span = (load.duration > .zero ? load.duration : end) / .seconds(1)
        return span > 0 ? Double(succeeded) / span : 0
    }

    /// Within how long the faster half of the calls that succeeded did so; nil when none did.
    public var p50: Duration? { percentile(0.5) }
    /// Within how long all but one in a hundred of the calls that succeeded did so; nil when none did.
    public var p99: Duration? { percentile(0.99) }

    /// Within how long a share of the calls that succeeded did so, delays between attempts included; nil when none did.
    ///
    /// - Parameter share: From 0 to 1; what lies outside counts as the end that is nearer.
    public func percentile(_ share: Double) -> Duration? {
        guard !durations.isEmpty else { return nil }
        let rank = (min(max(share, 0), 1) * Double(durations.count)).rounded(.up)
        return durations[max(0, Int(rank) - 1)]
    }

    private func total(_ count: (FleetSecond) -> Int) -> Int {
        seconds.reduce(0) { $0 + count($1) }
    }
}
