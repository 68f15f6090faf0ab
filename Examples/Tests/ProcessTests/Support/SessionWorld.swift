import ChildProcesses
import DemoServers
import Foundation
import NautilusOAuth
import SessionCommands
import Testing

/// A demo server, the folder of a store, and the processes that share it.
actor SessionWorld {
    nonisolated let server: DemoServer
    private let folder: URL
    private var children: [SessionChild] = []

    /// Runs a test when its turn has come, after which nothing is left of the world.
    ///
    /// - Parameters:
    ///   - hasGrace: Whether a refresh token that was spent a moment ago is answered with its successor once more.
    ///   - barriers: Where the server's answers wait.
    static func run(
        hasGrace: Bool = false,
        barriers: DemoServer.Barriers = .init(),
        _ body: (SessionWorld) async throws -> Void
    ) async throws {
        try await ProcessTurn.shared.run { try await runAtOnce(hasGrace: hasGrace, barriers: barriers, body) }
    }

    private static func runAtOnce(
        hasGrace: Bool,
        barriers: DemoServer.Barriers,
        _ body: (SessionWorld) async throws -> Void
    ) async throws {
        let server = try await DemoServer.start(
            environment: "staging",
            barriers: barriers,
            gracePeriod: hasGrace ? .seconds(3600) : .zero
        )
        let world = SessionWorld(server)
        do {
            try await withTaskCancellationHandler {
                try await body(world)
            } onCancel: {
                // The test's time is over: what it waits for comes with the end of the processes.
                Task { await world.killAll() }
            }
            await world.end()
        } catch {
            await world.end()
            throw error
        }
    }

    private init(_ server: DemoServer) {
        self.server = server
        // In memory where the system has such a place: every save waits for its disk.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        folder = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("nautilus-processes-\(UUID())")
    }

    private func killAll() async {
        for child in children { await child.end() }
    }

    private func end() async {
        await killAll()
        await server.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - account: The account of its session. Default: the only one there is.
    ///   - lockWait: How long it waits for the lock. Default: an hour, longer than any test takes.
    ///   - pause: How long it waits before it saves again. Default: 5 ms, so that no test waits long.
    func start(
        account: String = "",
        lockWait: Duration = .seconds(3600),
        pause: Duration = .milliseconds(5)
    ) async throws -> SessionChild {
        let child = try await SessionChild(
            SessionSettings(
                origin: server.origin,
                folder: folder.path,
                account: account,
                lockWait: lockWait,
                pause: pause
            )
        )
        children.append(child)
        return child
    }

    /// Starts a process that never waits for the lock, has it do one thing, and ends it.
    func once(_ command: SessionCommand, account: String = "") async throws -> SessionOutcome {
        let child = try await start(account: account, lockWait: .zero)
        let outcome = try await child.ask(command)
        _ = try await child.finish()
        return outcome
    }

    /// Stores a session, as an earlier process would have left it: by default one whose access token has expired.
    func signIn(account: String = "", isExpired: Bool = true) async throws {
        let credential = OAuthCredential(await tokens(isExpired: isExpired))
        try await store.save(StoredCredential(session: UUID(), credential: credential), for: key(account))
    }

    /// The tokens of another user.
    func tokens(isExpired: Bool = true) async -> SessionTokens {
        let pair = isExpired ? await server.signInExpired() : await server.signIn()
        return SessionTokens(accessToken: pair.accessToken, refreshToken: pair.refreshToken, lifetime: pair.lifetime)
    }

    /// The stored credential; throws if its file is torn.
    func stored(account: String = "") async throws -> StoredCredential? {
        try await store.load(key(account)).flatMap { $0.hasExpired ? nil : $0 }
    }

    /// Whether the session that is stored is that of a sign-in.
    func hasStored(_ tokens: SessionTokens) async throws -> Bool {
        try await stored()?.credential(as: OAuthCredential.self).accessToken == tokens.accessToken
    }

    /// Whether the lock is free now.
    func isLockFree(account: String = "") async throws -> Bool {
        guard let lock = try await store.lock(key(account)) else { return false }
        lock.unlock()
        return true
    }

    /// How the names of the files in the folder end, sorted.
    func endings() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .compactMap { $0.split(separator: ".").last.map(String.init) }
            .sorted()
    }

    /// Changes who may enter the folder.
    func setMode(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
    }

    private var store: FileStore { FileStore(folder: folder) }

    private func key(_ account: String) -> CredentialKey {
        CredentialKey(issuer: server.origin, client: SessionSettings.client, account: account)
    }
}

extension OAuthCredential {
    fileprivate init(_ tokens: SessionTokens) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, lifetime: tokens.lifetime)
    }
}
