import DemoServers
import Foundation
import NautilusOAuth

/// Where a round of a storm takes place: a server of its own, and a folder of its own with a credential that has expired.
struct StormWorld: Sendable {
    private let server: DemoServer
    private let account: NotesAccount
    private let kind: StormKind
    /// Holds the token of the process that is killed at the server's door.
    private let door: Barrier

    /// Runs a round, and removes what it leaves.
    static func round(_ kind: StormKind, processes: Int, folder: URL) async throws -> StormRound {
        let folder = folder.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try await StormWorld(kind, folder: folder)
        do {
            let round = try await world.run(processes: processes)
            await world.server.stop()
            return round
        } catch {
            await world.server.stop()
            throw error
        }
    }

    private init(_ kind: StormKind, folder: URL) async throws {
        self.kind = kind
        door = Barrier()
        server = try await DemoServer.start(
            environment: "storm",
            seed: .random(in: 0...UInt64.max),
            barriers: DemoServer.Barriers(refresh: door),
            gracePeriod: kind.grace
        )
        account = NotesAccount(server: server.origin, folder: folder)
        let pair = await server.signInExpired()
        let credential = OAuthCredential(
            accessToken: pair.accessToken,
            refreshToken: pair.refreshToken,
            lifetime: pair.lifetime
        )
        do throws(SessionError) {
            try await account.session.signIn(credential)
        } catch {
            await server.stop()
            throw account.complaint(error)
        }
    }

    private func run(processes count: Int) async throws -> StormRound {
        let (first, signal) = (Pipe(), Pipe())
        let victim = try Runner(account, signal: first.fileHandleForReading)
        let others = try (0..<count).map { _ in try Runner(account, signal: signal.fileHandleForReading) }
        for runner in [victim] + others { await runner.ready() }

        try first.fileHandleForWriting.close()
        try await arrival(of: victim)
        let start = ContinuousClock.now
        try signal.fileHandleForWriting.close()
        // By then most of them wait for the lock, whose holder is about to die.
        try await Task.sleep(for: .milliseconds(100))
        try await kill(victim)
        let finishes = await withTaskGroup(of: Runner.Finish.self) { group in
            for runner in others { group.addTask { await runner.finish(startedAt: start) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for pipe in [first, signal] { try pipe.fileHandleForReading.close() }
        return StormRound(kind: kind, finishes: finishes, isKept: try await account.stored() != nil)
    }

    /// Returns once the token of `victim` is at the server.
    private func arrival(of victim: Runner) async throws {
        let arrival = Task { await door.waitForArrivals(1) }
        Task {
            _ = await victim.finish(startedAt: .now)
            arrival.cancel()
        }
        await arrival.value
        if arrival.isCancelled { throw Complaint(.failure, "the process to be killed has ended before it refreshed") }
    }

    /// Has the server deal with the token while `victim` stands still, which then never runs again.
    private func kill(_ victim: Runner) async throws {
        victim.send(signal: SIGSTOP)
        switch kind.moment {
        case .beforeRotation: await server.dropRequests()
        case .afterRotation: await server.loseAnswers()
        }
        await door.open()
        while await !server.hasDealtWithToken { try await Task.sleep(for: .milliseconds(1)) }
        victim.send(signal: SIGKILL)
    }
}

extension DemoServer {
    /// Whether the token that was held at the door has been dropped, or its answer lost.
    fileprivate var hasDealtWithToken: Bool {
        get async {
            let counters = await counters
            return counters.tokenRequestsDropped + counters.answersLost > 0
        }
    }
}
