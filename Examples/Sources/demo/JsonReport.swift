import DemoServers
import Foundation

/// The whole run as one JSON object: the totals, and the same figures for each environment.
struct JsonReport: Encodable {
    private let calls: Int
    private let succeeded: Int
    private let attempts: Int
    private let retries: Int
    private let refreshes: Int
    private let reuseDetected: Int
    private let duplicates: Int
    private let durationMs: Int
    private let complaints: [String]
    private let environments: [String: Environment]

    init(_ report: Report) {
        let environments = report.results.map(Environment.init)
        calls = environments.total(\.calls)
        succeeded = environments.total(\.succeeded)
        attempts = environments.total(\.attempts)
        retries = environments.total(\.retries)
        refreshes = environments.total(\.refreshes)
        reuseDetected = environments.total(\.reuseDetected)
        duplicates = environments.total(\.duplicates)
        durationMs = Int(report.duration.inMilliseconds.rounded())
        complaints = report.verdict.complaints
        self.environments = Dictionary(uniqueKeysWithValues: zip(report.results.map(\.name), environments))
    }

    /// The object as text, its keys in a fixed order.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    private struct Environment: Encodable {
        let calls: Int
        let succeeded: Int
        let attempts: Int
        let retries: Int
        let refreshes: Int
        let reuseDetected: Int
        let duplicates: Int
        let p50Ms: Double
        let p99Ms: Double
        let retriesByReason: [String: Int]
        let server: Server

        init(_ result: EnvironmentResult) {
            calls = result.calls
            succeeded = result.succeeded
            attempts = result.attempts
            retries = result.retries
            refreshes = result.server.refreshes
            reuseDetected = result.server.reuseDetected
            duplicates = result.duplicates
            p50Ms = result.percentile(0.5).inMilliseconds.roundedToTenths
            p99Ms = result.percentile(0.99).inMilliseconds.roundedToTenths
            retriesByReason = Dictionary(
                uniqueKeysWithValues: result.retriesByReason.map { ($0.key.rawValue, $0.value) }
            )
            server = Server(result.server)
        }
    }

    private struct Server: Encodable {
        let requests: Int
        let answers: [String: Int]
        let dropped: Int
        let unauthorized: Int
        let unknownTokens: Int
        let notesCreated: Int
        let creationsRepeated: Int
        let maxConcurrent: Int

        init(_ counters: ServerCounters) {
            requests = counters.requests
            answers = Dictionary(uniqueKeysWithValues: counters.answers.map { ("\($0.key)", $0.value) })
            dropped = counters.dropped
            unauthorized = counters.unauthorized
            unknownTokens = counters.unknownTokens
            notesCreated = counters.notesCreated
            creationsRepeated = counters.creationsRepeated
            maxConcurrent = counters.maxConcurrent
        }
    }
}

extension Collection {
    fileprivate func total(_ value: (Element) -> Int) -> Int {
        reduce(0) { $0 + value($1) }
    }
}

extension Double {
    fileprivate var roundedToTenths: Double { (self * 10).rounded() / 10 }
}
