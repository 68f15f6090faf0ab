import DemoServers
import Nautilus
import NautilusTraffic

/// Calls that come faster than the server takes them.
struct LimitRun: Sendable {
    let name: String
    let calls: Int
    /// Whether all come at once, and the limit is not known yet.
    let isCold: Bool
    let pacing: Pacing?

    /// Twenty a second: what is refused at once is a second's worth.
    private static let limit = RequestLimit(requestsPerSecond: 20, burst: 19)

    /// How many requests the server may refuse however well they are paced: those that are sent before any answer tells
    /// of the limit. When the first call is alone, it is none.
    static func refusalsBeforeTold(calls: Int, isCold: Bool) -> Int {
        isCold ? max(0, calls - limit.quota) : 0
    }

    func result() async throws -> RunResult {
        let server = try await DemoServer.start(environment: "limited", limit: Self.limit)
        let service = await NotesService(server, interceptors: pacing.map { [$0] } ?? [])
        let clock = ContinuousClock()
        let start = clock.now
        var succeeded = 0
        if !isCold { succeeded += await service.succeeds(0) ? 1 : 0 }
        let rest = (isCold ? 0 : 1)..<calls
        succeeded += await withTaskGroup(of: Bool.self) { group in
            for number in rest { group.addTask { await service.succeeds(number) } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        let duration = start.duration(to: clock.now)
        let counters = await server.counters
        await server.stop()
        return RunResult(
            scenario: "limit",
            name: name,
            calls: calls,
            succeeded: succeeded,
            requests: counters.requests,
            refused: counters.limited,
            duration: duration
        )
    }
}
