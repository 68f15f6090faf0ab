import Foundation
import NautilusFleets

/// One policy's figures as a JSON object on one line, its keys in a fixed order.
struct PolicyLine: Encodable {
    private let report: FleetReport

    init(_ report: FleetReport) {
        self.report = report
    }

    private enum CodingKeys: String, CodingKey {
        case policy, seed, clients, calls, sends, amplification, completion, goodput, recovered
        case recoverySeconds = "recovery_s"
        case p50 = "p50_ms"
        case p99 = "p99_ms"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.policy, forKey: .policy)
        try container.encode(report.seed, forKey: .seed)
        try container.encode(report.clients, forKey: .clients)
        try container.encode(report.calls, forKey: .calls)
        try container.encode(report.sends, forKey: .sends)
        try container.encode(report.amplification.rounded(places: 4), forKey: .amplification)
        try container.encode(report.completion.rounded(places: 4), forKey: .completion)
        try container.encode(report.goodput.rounded(places: 1), forKey: .goodput)
        try container.encode(report.hasRecovered, forKey: .recovered)
        // Null, not absent: it is known that it never did.
        try container.encode(report.recovery.map { $0 / .seconds(1) }, forKey: .recoverySeconds)
        try container.encode(report.p50.map { ($0 / .milliseconds(1)).rounded(places: 3) }, forKey: .p50)
        try container.encode(report.p99.map { ($0 / .milliseconds(1)).rounded(places: 3) }, forKey: .p99)
    }

    /// The object as text.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

extension Double {
    fileprivate func rounded(places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (self * scale).rounded() / scale
    }
}
