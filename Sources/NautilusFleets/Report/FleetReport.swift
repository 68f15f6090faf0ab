import Nautilus

/// The effects of a policy on the server and on its callers.
public struct FleetReport: Hashable, Sendable {
    /// The policy's name.
    public let policy: String
    /// The seed of everything random.
    public let seed: UInt64
    /// How many clients there were.
    public let clients: Int
    /// The times of the clients' calls.
    public let load: FleetLoad
    /// The server's outages.
    public let outages: [FleetOutage]
    /// The counts of each second, until the last call had ended.
    public let seconds: [FleetSecond]
    /// When the last call ended, counted from the simulation's start.
    public let end: Duration

    /// The durations of the calls that succeeded, the shortest first.
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

    /// Requests per call: 1 without any retry, `maxAttempts` when every attempt fails; 0 when there were no calls.
    public var amplification: Double { calls == 0 ? 0 : Double(sends) / Double(calls) }

    /// The share of calls that succeeded, 0...1; 1 when there were no calls.
    public var completion: Double { calls == 0 ? 1 : Double(succeeded) / Double(calls) }

    /// Successful calls per second of the load; if all calls began at once, per second until the last had ended.
    public var goodput: Double {
        let span = (load.duration > .zero ? load.duration : end) / .seconds(1)
        return span > 0 ? Double(succeeded) / span : 0
    }

    /// The time within which the faster half of the successful calls succeeded; nil when none did.
    public var p50: Duration? { percentile(0.5) }
    /// The time within which all but one in a hundred of the successful calls succeeded; nil when none did.
    public var p99: Duration? { percentile(0.99) }

    /// The time within which a share of the successful calls succeeded, including delays between attempts; nil when
    /// none did.
    ///
    /// - Parameter share: From 0 to 1; values outside count as the nearer end.
    public func percentile(_ share: Double) -> Duration? {
        guard !durations.isEmpty else { return nil }
        let rank = (min(max(share, 0), 1) * Double(durations.count)).rounded(.up)
        return durations[max(0, Int(rank) - 1)]
    }

    private func total(_ count: (FleetSecond) -> Int) -> Int {
        seconds.reduce(0) { $0 + count($1) }
    }
}

extension FleetReport {
    /// The share of a second's calls that must succeed for the second to count as one without an outage: 0.95, since a
    /// healthy server loses a call now and then, and an unhealthy one loses nearly all.
    public static let recoveredShare = 0.95

    /// The time from the end of the last outage until calls were served again; nil when they never were, or there was
    /// no outage.
    ///
    /// It ends with the first second from which on, up to the end of the load, at least ``recoveredShare`` of the calls
    /// that began in each second succeeded, in whole seconds. An outage that ends when no more calls are made has no
    /// recovery.
    public var recovery: Duration? {
        guard let outage = outages.map(\.end).max() else { return nil }
        let loaded = seconds.filter { .seconds($0.number) < load.duration && .seconds($0.number) >= outage }
        guard let last = loaded.last, last.isWell else { return nil }
        let lastBad = loaded.last { !$0.isWell }
        return .seconds(lastBad.map { $0.number + 1 } ?? loaded[0].number) - outage
    }

    /// Whether callers were served again after the last outage; true without an outage.
    public var hasRecovered: Bool { outages.isEmpty || recovery != nil }
}

extension FleetSecond {
    fileprivate var isWell: Bool { Double(kept) >= FleetReport.recoveredShare * Double(begun) }
}

/// The counts of a fleet in one second of a ``FleetReport``.
public struct FleetSecond: Hashable, Sendable {
    /// The second's number, from 0: second 3 is from 3 s to 4 s.
    public let number: Int
    /// Calls that began.
    public internal(set) var begun = 0
    /// Requests that were sent, first attempts and retries: the load on the server.
    public internal(set) var sends = 0
    /// Calls that ended with a result: the goodput.
    public internal(set) var succeeded = 0
    /// Calls that ended with an error.
    public internal(set) var failed = 0
    /// Requests that the server turned away without any work, or lost.
    public internal(set) var refused = 0
    /// Requests whose caller hung up, so that the server's work for them is wasted.
    public internal(set) var abandoned = 0
    /// How many of the calls that began in this second succeeded, then or later.
    public internal(set) var kept = 0

    init(number: Int) {
        self.number = number
    }
}

/// The reports of several policies side by side: as a table, as CSV, as a picture.
public struct FleetComparison: Hashable, Sendable {
    /// The reports, in the order in which they are shown.
    public let reports: [FleetReport]

    /// Creates a comparison, which makes sense for runs of the same ``FleetSimulation``.
    public init(_ reports: [FleetReport]) {
        self.reports = reports
    }

    /// Every second of every policy, one line each, for a spreadsheet (RFC 4180).
    public var csv: String {
        let rows = reports.flatMap { report in
            report.seconds.map { second in
                [Self.field(report.policy), "\(report.seed)"] + Self.columns.map { "\(second[keyPath: $0.path])" }
            }
        }
        let header = ["policy", "seed"] + Self.columns.map(\.name)
        return ([header] + rows).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    private static var columns: [(name: String, path: KeyPath<FleetSecond, Int>)] {
        [
            ("second", \.number), ("begun", \.begun), ("sends", \.sends), ("succeeded", \.succeeded),
            ("failed", \.failed), ("refused", \.refused), ("abandoned", \.abandoned), ("kept", \.kept),
        ]
    }

    private static func field(_ text: String) -> String {
        guard text.contains(where: { ",\"\r\n".contains($0) || $0.isNewline }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

extension FleetReport {
    /// Every second, one line each, for a spreadsheet (RFC 4180).
    public var csv: String { FleetComparison([self]).csv }
}
