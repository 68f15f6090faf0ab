import Nautilus

extension FleetReport {
    /// The share of the calls of a second that must succeed for it to count as one without an outage: 0.95, since a
    /// server that is well loses a call now and then, and one that is not loses nearly all.
    public static let recoveredShare = 0.95

    /// The time from the last outage until calls were served again: nil when they never were, or without an outage.
    ///
    /// Until the first second from which on, up to the end of the load, ``recoveredShare`` of the calls that began in
    /// each second succeeded; whole seconds. An outage that ends when no more calls are made has no recovery.
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
