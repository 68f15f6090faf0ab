import BenchmarkServer
import Foundation
import Nautilus

/// A call that waits for its answer should cost nothing while it waits.
enum WaitingSuite {
    static let all: [any Measurable] = [WaitingCall()]
}

/// The processor time of one call whose answer is held back, and of the same by Foundation alone.
private struct WaitingCall: Measurable {
    let group = "Waiting for an answer"
    let name = "one call"

    func lines(_ effort: Effort) async throws -> [Line] {
        let delay = effort.isQuick ? 1 : 5
        let server = try ServerProcess(.noStore, delay: delay * 1_000)
        defer { server.end() }
        let service = LoopbackSuite.defaults(server.port)
        let call = Subject("Nautilus") { _ = try await GetNote().schedule(with: service) }
        return [
            Line(
                group: group,
                name: "\(name), \(delay) s, processor time",
                unit: "ns",
                [try await Metric.cpu.measure(call, count: 1)],
                against: [try await Metric.cpu.measure(LoopbackSuite.bare(server.port), count: 1)],
                baseline: "URLSession.data(for:)"
            )
        ]
    }
}
