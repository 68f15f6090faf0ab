import DemoServers
import Foundation
import NautilusOAuth

/// Where a race takes place: a server of its own, and a folder of its own with the credential of one login.
struct RaceTrack: Sendable {
    private static let lifetime = Duration.seconds(3_600)

    private let server: DemoServer
    private let account: NotesAccount

    /// Starts the server and signs in by device code, as a user who is quick to approve.
    init(folder: URL) async throws {
        let server = try await DemoServer.start(
            environment: "race",
            seed: .random(in: 0...UInt64.max),
            accessTokenLifetime: Self.lifetime,
            // The least that the wire knows, a second: the approval is there before the first poll.
            deviceRules: DemoDeviceRules(interval: .seconds(1))
        )
        self.server = server
        account = NotesAccount(server: server.origin, folder: folder)
        do {
            try await account.service.signIn { await server.approve(userCode: $0.userCode) }
        } catch {
            await server.stop()
            throw (error as? OAuthError).map(account.complaint) ?? error
        }
    }

    func close() async {
        await server.stop()
    }

    /// Lets the access token expire, and has as many processes call at the same moment.
    func run(processes count: Int, expiry: RaceExpiry) async throws -> RaceRound {
        try await expire(expiry)
        let signal = Pipe()
        let runners = try (0..<count).map { _ in
            try Runner(account, signal: signal.fileHandleForReading)
        }
        for runner in runners { await runner.ready() }
        let before = await server.counters
        let start = ContinuousClock.now
        try signal.fileHandleForWriting.close()
        let finishes = await withTaskGroup(of: Runner.Finish.self) { group in
            for runner in runners { group.addTask { await runner.finish(startedAt: start) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try signal.fileHandleForReading.close()
        return RaceRound(finishes, before: before, after: await server.counters)
    }

    private func expire(_ expiry: RaceExpiry) async throws {
        switch expiry {
        case .rejected: await server.expireAccessTokens()
        case .known:
            await server.advanceTime(by: Self.lifetime)
            guard try await account.store.age(account.session.key, by: Self.lifetime) else {
                throw Complaint(.store, "the race has lost its credential")
            }
        }
    }
}
