/// The measured quantity; less is better for each.
enum Metric: String, Sendable, Codable {
    /// Wall-clock time of a block of calls, divided by their number.
    case time
    /// Wall-clock time of single calls: the median.
    case latency
    /// Processor time of this process, divided by the number of calls.
    case cpu
    /// Blocks of memory asked for, divided by the number of calls.
    case allocations

    /// Runs `subject` and returns one figure per call: nanoseconds, or a number.
    func measure(_ subject: Subject, count: Int) async throws -> Double {
        switch self {
        case .time:
            let start = ContinuousClock.now
            try await subject.run(count)
            return (ContinuousClock.now - start).nanoseconds / Double(count)
        case .latency:
            var latencies: [Double] = []
            for _ in 0..<count {
                let start = ContinuousClock.now
                try await subject.run(1)
                latencies.append((ContinuousClock.now - start).nanoseconds)
            }
            return latencies.median
        case .cpu:
            let start = ProcessUsage.cpuTime
            try await subject.run(count)
            return (ProcessUsage.cpuTime - start).nanoseconds / Double(count)
        case .allocations:
            return Double(try await AllocationCount.during { try await subject.run(count) }) / Double(count)
        }
    }

    /// Whether the metric can be measured here.
    var isAvailable: Bool {
        self != .allocations || AllocationCount.isAvailable
    }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) * 1e-9
    }
}

extension [Double] {
    /// The value in the middle; 0 for no values.
    var median: Double { quantile(0.5) }

    /// The value below which this part of all values lies.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Int((Double(count - 1) * part).rounded())]
    }
}
