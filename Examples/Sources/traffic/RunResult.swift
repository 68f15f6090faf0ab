import Foundation
import Nautilus

/// The result of one run, as the client and as the server saw it.
struct RunResult: Sendable {
    let scenario: String
    let name: String
    let calls: Int
    let succeeded: Int
    /// Requests that the server saw.
    let requests: Int
    /// Requests that it refused: by its limit, or because it was down.
    let refused: Int
    let duration: Duration
    /// The breaker's changes of state; empty without one.
    var changes: [CircuitChange] = []

    var openings: Int { changes.filter(\.isOpening).count }
    var probes: Int { changes.filter { $0.change == .probed }.count }
    var isClosedAgain: Bool { changes.last?.change == .closed }
}

extension RunResult: Encodable {
    private enum CodingKeys: String, CodingKey {
        case scenario, name, calls, succeeded, requests, refused, opened, probes, closed
        case milliseconds = "duration_ms"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(scenario, forKey: .scenario)
        try container.encode(name, forKey: .name)
        try container.encode(calls, forKey: .calls)
        try container.encode(succeeded, forKey: .succeeded)
        try container.encode(requests, forKey: .requests)
        try container.encode(refused, forKey: .refused)
        try container.encode(duration.milliseconds, forKey: .milliseconds)
        guard !changes.isEmpty else { return }
        try container.encode(openings, forKey: .opened)
        try container.encode(probes, forKey: .probes)
        try container.encode(isClosedAgain, forKey: .closed)
    }
}

extension Duration {
    /// In seconds, with so many decimals.
    func inSeconds(places: Int) -> String {
        String(format: "%.\(places)f", self / .seconds(1))
    }
}
