import DemoServers
import Nautilus
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
        let server = try await DemoServer.start(environment: name, seed: seed, plan: faults)
        let service = try await service(for: server)
        var outcomes: [CallOutcome] = []
        for (number, wave) in plan.waves.enumerated() {
            // The first wave meets a token that has expired; in the middle of each later one the server revokes it. No
            // call is in two waves, so none meets two expiries, and each refreshes at most once.
            outcomes += await run(wave, with: service, revokingOn: number > 0 ? server : nil, progress: progress)
        }
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

    /// Runs `calls`, at most ``concurrency`` at once.
    ///
    /// - Parameter server: Revokes its tokens when half of the calls have ended; nil when it does not.
    private func run(
        _ calls: [CallPlan.Call],
        with service: NotesService,
        revokingOn server: DemoServer?,
        progress: ProgressLine?
    ) async -> [CallOutcome] {
        // Few calls may all be under way by then, and none would be left to meet the revocation.
        let half = calls.count > 2 * concurrency ? calls.count / 2 : 0
        if half == 0 { await server?.revokeAccessTokens() }
        return await withTaskGroup(of: CallOutcome.self) { group in
            var rest = calls[...]
            for _ in 0..<concurrency {
                guard let call = rest.popFirst() else { break }
                group.addTask { await call.outcome(with: service) }
            }
            var outcomes: [CallOutcome] = []
            for await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == half { await server?.revokeAccessTokens() }
                await progress?.callEnded(outcome)
                if let call = rest.popFirst() { group.addTask { await call.outcome(with: service) } }
            }
            return outcomes
        }
    }
}

extension CallPlan.Call {
    /// Makes the call and tells how it went.
    fileprivate func outcome(with service: NotesService) async -> CallOutcome {
        do throws(NotesError) {
            switch self {
            case .list(let page):
                return CallOutcome(trace: try await ListNotes(page: page).response(with: service).trace)
            case .get(let id):
                return CallOutcome(trace: try await GetNote(id: id).response(with: service).trace)
            case .create(let number):
                let request = CreateNote(title: "Note \(number) of the demo", text: "Grown one chamber at a time.")
                return CallOutcome(trace: try await request.response(with: service).trace)
            }
        } catch {
            return CallOutcome(trace: error.httpError.trace, failure: error.description)
        }
    }
}
