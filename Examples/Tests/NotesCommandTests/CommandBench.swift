import ChildProcesses
import DemoServers
import Foundation
import NautilusOAuth
import Testing

@testable import notes

/// A server, an empty folder for the credential, and the tool that is told of both.
final class CommandBench: Sendable {
    let server: DemoServer
    let folder: URL
    let tool: NotesTool

    /// - Parameter barriers: Where the server's answers wait. Default: nowhere.
    init(barriers: DemoServer.Barriers = .init()) async throws {
        server = try await DemoServer.start(
            environment: "staging",
            barriers: barriers,
            // The least that the wire knows, a second, and never too soon for the server.
            deviceRules: DemoDeviceRules(interval: .milliseconds(1))
        )
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("notes-tests-\(UUID().uuidString)")
        folder = place.appendingPathComponent("credentials")
        tool = NotesTool(environment: ["NOTES_SERVER": server.origin, "NOTES_STORE": folder.path])
    }

    deinit {
        try? FileManager.default.removeItem(at: folder.deletingLastPathComponent())
    }

    /// Runs `body` with a bench when its turn has come, and stops its server.
    static func run(
        barriers: DemoServer.Barriers = .init(),
        _ body: (CommandBench) async throws -> Void
    ) async throws {
        try await ProcessTurn.shared.run { try await runAtOnce(barriers: barriers, body) }
    }

    private static func runAtOnce(
        barriers: DemoServer.Barriers,
        _ body: (CommandBench) async throws -> Void
    ) async throws {
        let bench = try await CommandBench(barriers: barriers)
        do {
            try await body(bench)
        } catch {
            await bench.server.stop()
            throw error
        }
        await bench.server.stop()
    }

    var account: NotesAccount { NotesAccount(server: server.origin, folder: folder) }

    /// Has an hour pass, for the server and for what is stored.
    func passHour() async throws {
        await server.advanceTime(by: .seconds(3_600))
        let account = account
        #expect(try await account.store.age(account.session.key, by: .seconds(3_600)))
    }

    /// Signs in without a request, with a credential that has expired.
    func signInExpired() async throws -> OAuthCredential {
        let pair = await server.signInExpired()
        let credential = OAuthCredential(
            accessToken: pair.accessToken,
            refreshToken: pair.refreshToken,
            lifetime: pair.lifetime
        )
        try await account.session.signIn(credential)
        return credential
    }

    /// Spends a refresh token past the store, as a thief would.
    func refresh(_ credential: OAuthCredential) async throws {
        _ = try await account.service.endpoint.refresh(credential)
    }

    /// The stored credential; nil when there is none.
    var stored: StoredCredential? {
        get async throws {
            let account = account
            return try await account.store.load(account.session.key).flatMap { $0.hasExpired ? nil : $0 }
        }
    }
}
