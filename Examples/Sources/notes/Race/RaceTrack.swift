import DemoServers
import Foundation
import NautilusOAuth

/// Where a race takes place: a server of its own, and a folder of its own with the credential of one login.
struct RaceTrack: Sendable {
    /// Why the next race cannot be prepared.
    struct LostCredential: Error, CustomStringConvertible {
        let description = "the credential is no longer in its folder"
    }

    private static let lifetime = Duration.seconds(3_600)

    private let server: DemoServer
    private let account: NotesAccount

    /// Starts the server and signs in by device code, as a user who is quick to approve.
    init(folder: URL) async throws {
        let server = try await DemoServer.start(
            environment: "race",
            seed: .random(in: 0...UInt64.max),
            accessTokenLifetime: Self.lifetime,
            deviceRules: DemoDeviceRules(interval: .zero)
        )
        self.server = server
        account = NotesAccount(server: server.origin, folder: folder)
        try await account.service.signIn { await server.approve(userCode: $0.userCode) }
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
            try await ageCredential()
        }
    }

    /// Has the credential received an hour earlier, as if that hour had passed here, too.
    private func ageCredential() async throws {
        let key = account.session.key
        guard let lock = try await account.store.lock(key), let stored = try await account.store.load(key) else {
            throw LostCredential()
        }
        defer { lock.unlock() }
        let credential = stored.credential
        let aged = OAuthCredential(
            accessToken: credential.accessToken,
            refreshToken: credential.refreshToken,
            tokenType: credential.tokenType,
            scope: credential.scope,
            lifetime: credential.lifetime,
            receivedAt: credential.receivedAt - TimeInterval(Self.lifetime.components.seconds)
        )
        try await account.store.save(StoredCredential(session: stored.session, credential: aged), for: key)
    }
}
