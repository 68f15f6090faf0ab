/// One figure of the report.
struct Line: Sendable, Codable {
    /// What the figure belongs to.
    let group: String
    /// What was measured.
    let name: String
    /// The figure: the median of all rounds; nil where it cannot be measured.
    let value: Double?
    /// What the figure counts.
    let unit: String
    /// The baseline's figure.
    let baselineValue: Double?
    /// What the baseline is.
    let baseline: String
    /// The median of the rounds' ratios; less is better.
    let ratio: Double?
    /// Within which the middle half of the rounds' ratios lies.
    let ratioQuartiles: [Double]?
}

extension Line {
    init(of comparison: Comparison, _ metric: Metric, _ values: [Double], against references: [Double]) {
        let ratios = zip(values, references).map { $1 == 0 ? .infinity : $0 / $1 }
        self.init(
            group: comparison.group,
            name: comparison.name + metric.suffix,
            value: values.median,
            unit: metric.unit,
            baselineValue: references.median,
            baseline: comparison.baseline.name,
            ratio: ratios.median.isFinite ? ratios.median : nil,
            ratioQuartiles: ratios.allSatisfy(\.isFinite) ? [ratios.quantile(0.25), ratios.quantile(0.75)] : nil
        )
    }

    init(unavailable comparison: Comparison, _ metric: Metric) {
        self.init(
            group: comparison.group,
            name: comparison.name + metric.suffix,
            value: nil,
            unit: metric.unit,
            baselineValue: nil,
            baseline: comparison.baseline.name,
            ratio: nil,
            ratioQuartiles: nil
        )
    }
}

extension Metric {
    fileprivate var unit: String {
        self == .allocations ? "allocations" : "ns"
    }

    fileprivate var suffix: String {
        switch self {
        case .time, .latency: ""
        case .cpu: ", processor time"
        case .allocations: ", allocations"
        }
    }
}
