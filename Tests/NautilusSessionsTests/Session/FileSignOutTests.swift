import Foundation
import Nautilus
import NautilusSessions
import Testing

@Suite("A sign-out from files")
struct FileSignOutTests {
    private let folder: TestFolder
    private let key = CredentialKey(issuer: "api.test")
    /// The credentials that the server was asked to forget.
    private let revoked = Locked<[String]>([])

    init() throws { folder = try TestFolder() }

    /// A session as another process has it, which knows nothing of what has happened in the others; none waits for a
    /// lock.
    private func process() -> Session<String> {
        SimulatedProcess.$current.withValue(SimulatedProcess()) {
            Session(
                key: key,
                rules: SessionRules(
                    authorize: { $1.header["X-Api-Token"] = $0 },
                    revoke: { [revoked] token in revoked.withLock { $0.append(token) } },
                    refresh: { $0 }
                ),
                store: FileStore(folder: folder.store),
                // Nothing is tried again in the background while a test looks at the folder.
                sharing: CredentialSharing(lockWait: .zero, backoff: .constant(.seconds(3600), jitter: .none))
            )
        }
    }

    private func isSignedOut(_ session: Session<String>) async -> Bool {
        do {
            _ = try await session.credential()
            return false
        } catch RefreshError.signedOut {
            return true
        } catch {
            return false
        }
    }

    /// Tries again while another process has the lock, for as long as a removal takes.
    private func whenUnlocked(_ work: () async throws -> Void) async throws {
        while true {
            do {
                return try await work()
            } catch let error as SessionError {
                guard case .lockTimeout = error.kind else { throw error }
                await Task.yield()
            }
        }
    }

    enum Trouble: CaseIterable { case none, lockedElsewhere, damaged }

    @Test(
        "a sign-out from files counts in this process, in one that knows the user, and in the next one",
        arguments: Trouble.allCases
    )
    func everywhere(trouble: Trouble) async throws {
        let (session, other) = (process(), process())
        try await session.signIn("anna")
        try await other.restore()
        var lock: (any CredentialLock)?
        switch trouble {
        case .none: break
        case .lockedElsewhere: lock = try await FileStore(folder: folder.store).lock(key)
        case .damaged:
            let file = try folder.credentialFile()
            try Data(contentsOf: file).dropLast().write(to: file)
        }
        // A lock that is held elsewhere delays only the removal of the record.
        try await session.signOut()
        for process in [session, other, process()] { #expect(await isSignedOut(process)) }
        lock?.unlock()
        // Each may be about to remove what is left, the one that was dropped as well.
        for process in [other, session] where trouble == .lockedElsewhere {
            try await whenUnlocked { try await process.flush() }
        }
        while trouble == .lockedElsewhere, try !folder.names().allSatisfy({ $0.hasSuffix(".lock") }) {
            try await whenUnlocked { try await session.flush() }
            await Task.yield()
        }
        #expect(try folder.names().allSatisfy { $0.hasSuffix(".lock") })
        try await whenUnlocked { try await session.signIn("bert") }
        for process in [session, other, process()] { #expect(try await process.credential().credential == "bert") }
    }

    @Test("a sign-in signs out the user before, in a folder that is open to others")
    func signInInOpenFolder() async throws {
        let session = process()
        try await session.signIn("anna")
        try folder.setMode(0o755)
        let next = process()
        await #expect(throws: SessionError.self) { try await next.signIn("bert") }
        #expect(try await next.credential().credential == "bert")
        try folder.setMode(0o700)
        #expect(await isSignedOut(process()))
    }

    /// What a process that signs out knows.
    enum Knowledge: CaseIterable { case user, nothing, nextUser }

    @Test(
        "a sign-out from files counts for the next launch when it returns, before anything is waited for",
        arguments: Knowledge.allCases
    )
    func atOnce(knowledge: Knowledge) async throws {
        let session = process()
        try await session.signIn("anna")
        let id = try #require(session.id)
        // The rest of the sign-out would remove the note along with the record.
        let lock = try #require(try await FileStore(folder: folder.store).lock(key))
        let leaving = knowledge == .user ? session : process()
        var signIn: Task<Void, Never>?
        if knowledge == .nextUser {
            let isSignedIn = leaving.signedInStates
            signIn = Task { try? await leaving.signIn("bert") }
            for await state in isSignedIn where state { break }
        }
        let signOut = leaving.signOutNow()
        let noted = try String(contentsOf: folder.file(".ended"), encoding: .utf8)
        #expect(noted.contains(id.uuidString))
        _ = try? await signOut.finish()
        await signIn?.value
        #expect(await isSignedOut(process()))
        lock.unlock()
    }

    @Test("a sign-out is noted at once even if others may enter the folder")
    func atOnceInOpenFolder() async throws {
        let session = process()
        try await session.signIn("anna")
        let id = try #require(session.id)
        let lock = try #require(try await FileStore(folder: folder.store).lock(key))
        try folder.setMode(0o755)
        let signOut = process().signOutNow()
        let noted = try String(contentsOf: folder.file(".ended"), encoding: .utf8)
        #expect(noted.contains(id.uuidString))
        _ = try? await signOut.finish()
        lock.unlock()
    }

    @Test(
        "a sign-out works in a folder that others may enter, and without room for a record",
        arguments: [true, false]
    )
    func openFolder(isKnown: Bool) async throws {
        let session = process()
        try await session.signIn("anna")
        let leaving = isKnown ? session : process()
        let other = process()
        try await other.restore()
        try folder.setMode(0o755)
        try? await leaving.signOut()
        #expect(await isSignedOut(leaving))
        // It has nothing to read there any more.
        if !isKnown { #expect(await isSignedOut(other)) }
        try folder.setMode(0o700)
        #expect(try folder.names().allSatisfy { $0.hasSuffix(".lock") })
        #expect(await isSignedOut(process()))
        #expect(await isSignedOut(session))
    }

    @Test("a sign-out of a user who was replaced elsewhere revokes nothing, though the record is still there")
    func replacedElsewhere() async throws {
        let (session, other) = (process(), process())
        try await session.signIn("anna")
        try await other.restore()
        let lock = try #require(try await FileStore(folder: folder.store).lock(key))
        try? await other.signIn("bert")
        #expect(try await session.restore() == false)
        for _ in 1...2 { try? await session.signOut() }
        #expect(revoked.withLock { $0 } == [])
        lock.unlock()
    }

    @Test("a sign-out counts though a newer app has stored a record since that cannot be read here")
    func newerRecord() async throws {
        let session = process()
        try await session.signIn("anna")
        _ = try await session.credential()
        let id = try #require(session.id)
        try Data(StoredText.newer.utf8).write(to: folder.credentialFile())
        // It may still be anna's.
        #expect(try await session.credential().credential == "anna")
        _ = try await FileStore(folder: folder.store).end(id, for: key)
        await #expect(throws: (any Error).self) { try await session.credential() }
        #expect(!session.isSignedIn)
    }

    @Test("a sign-out begun by a process that is gone is finished by the next process that looks")
    func unfinished() async throws {
        let (session, other) = (process(), process())
        try await session.signIn("anna")
        try await other.restore()
        _ = try await FileStore(folder: folder.store).end(try #require(session.id), for: key)
        #expect(await isSignedOut(other))
        try await other.flush()
        #expect(try folder.names().allSatisfy { $0.hasSuffix(".lock") })
        #expect(await isSignedOut(session))
        try await other.signIn("bert")
        #expect(try await session.credential().credential == "bert")
    }
}
