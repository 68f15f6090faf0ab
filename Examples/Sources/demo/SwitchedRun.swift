import DemoServers
import Nautilus
import NautilusEnvironments
import NotesAPI

/// A run whose calls all go through one switch of services, which is turned from the first environment to the second in the
/// middle of them.
struct SwitchedRun: Sendable {
    let first: EnvironmentRun
    let second: EnvironmentRun

    /// Makes the first one's calls, with those of both counted where they went.
    func results(progress: ProgressLine?) async throws -> [EnvironmentResult] {
        let (firstServer, firstService) = try await first.start()
        let (secondServer, secondService) = try await second.start()
        let sites = ServiceSwitch(first.name) { [first] name in name == first.name ? firstService : secondService }
        let calls = first.plan.waves.flatMap { $0 }
        let outcomes = await ConcurrentCalls(calls: calls, concurrency: first.concurrency)
            .outcomes(with: sites, progress: progress, after: calls.count / 2) { sites.select(second.name) }
        // Where the server says that it is, as a URL does.
        let isFirst: (CallOutcome) -> Bool = { $0.trace.request?.origin.description == firstServer.origin }
        return [
            await first.end(firstServer, outcomes.filter(isFirst)),
            await second.end(secondServer, outcomes.filter { !isFirst($0) }),
        ]
    }
}
