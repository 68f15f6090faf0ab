import DemoServers
import Nautilus
import NautilusTraffic
import NotesAPI

/// One environment's part of the run: a server, a service, and all calls.
struct EnvironmentRun: Sendable {
    let name: String
    let order: Int
    let plan: CallPlan
    let faults: FaultPlan
    let seed: UInt64
    let concurrency: Int

    func result(progress: ProgressLine?) async throws -> EnvironmentResult {
        let (server, service) = try await start()
        var outcomes: [CallOutcome] = []
        for (number, wave) in plan.waves.enumerated() {
            // The first wave meets a token that has expired; in the middle of each later one the server revokes it. No
            // call is in two waves, so none meets two expiries, and each refreshes at most once.
            let calls = ConcurrentCalls(calls: wave, concurrency: concurrency)
            // Few calls may all be under way by then, and none would be left to meet the revocation.
            let half = wave.count > 2 * concurrency ? wave.count / 2 : 0
            if number > 0, half == 0 { await server.revokeAccessTokens() }
            outcomes += await calls.outcomes(with: service, progress: progress, after: half) {
                if number > 0 { await server.revokeAccessTokens() }
            }
        }
        return await end(server, outcomes)
    }

    /// Starts the server, and signs in to it with a token that has expired.
    func start() async throws -> (DemoServer, NotesService) {
        let server = try await DemoServer.start(environment: name, seed: seed, plan: faults)
        return (server, try await service(for: server))
    }

    /// Stops the server, and tells what came of its calls.
    func end(_ server: DemoServer, _ outcomes: [CallOutcome]) async -> EnvironmentResult {
        let (counters, titles) = await (server.counters, server.titles)
        await server.stop()
        return EnvironmentResult(name: name, order: order, outcomes: outcomes, server: counters, titles: titles)
    }

    private func service(for server: DemoServer) async throws -> NotesService {
        let environment = NotesEnvironment(name: name, origin: server.origin)
        let service = NotesService(
            environment,
            // Three requests in ten meet a fault, and three faults in four fail the attempt: the default of 4 attempts
            // would lose 1 call of 370. Its delays are made for servers far away; a demo has neither patience nor
            // distance.
            backoff: .exponential(base: .milliseconds(50), cap: .seconds(1)),
            maxAttempts: 12,
            // The default is made for servers that fail because of load: it would refuse most retries here, where the
            // faults are drawn by lot. Even if every request met one, three in four failing, a success would need three
            // retries; the minimum is for calls that fail before the first success.
            budget: .shared(RatioBudget(ratio: 4, minimumRetriesPerSecond: 200))
        )
        let pair = await server.signInExpired()
        try service.signIn(
            Token(
                accessToken: pair.accessToken,
                refreshToken: pair.refreshToken,
                // As from a keychain: that it has expired, only the server knows.
                lifetime: nil,
                environment: environment
            )
        )
        return service
    }
}
