/// One figure of the report.
struct Line: Sendable, Codable {
    /// The group that the figure belongs to.
    let group: String
    /// The name of the measurement.
    let name: String
    /// The figure: the median of all rounds; nil where it cannot be measured.
    let value: Double?
    /// The unit of the figure.
    let unit: String
    /// The baseline's figure.
    let baselineValue: Double?
    /// The name of the baseline.
    let baseline: String
    /// The median of the rounds' ratios; less is better.
    let ratio: Double?
    /// Within which the middle half of the rounds' ratios lies.
    let ratioQuartiles: [Double]?
}

extension Line {
    /// A figure from the values of all rounds.
    init(
        group: String,
        name: String,
        unit: String,
        _ values: [Double],
        against references: [Double],
        baseline: String
    ) {
        let ratios = zip(values, references).compactMap { $1 == 0 ? nil : $0 / $1 }
        self.init(
            group: group,
            name: name,
            value: values.isEmpty ? nil : values.median,
            unit: unit,
            baselineValue: references.isEmpty ? nil : references.median,
            baseline: baseline,
            ratio: ratios.isEmpty ? nil : ratios.median,
            ratioQuartiles: ratios.isEmpty ? nil : [ratios.quantile(0.25), ratios.quantile(0.75)]
        )
    }

    /// A figure of a comparison; without values where the metric cannot be measured.
    init(of comparison: Comparison, _ metric: Metric, _ values: [Double] = [], against references: [Double] = []) {
        self.init(
            group: comparison.group,
            name: comparison.name + metric.suffix,
            unit: metric.unit,
            values,
            against: references,
            baseline: comparison.baseline.name
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
