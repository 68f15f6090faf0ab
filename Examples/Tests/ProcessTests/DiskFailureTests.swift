import DemoServers
import Foundation
import SessionCommands
import Testing

@Suite(
    "A disk that fails",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: SessionFault.reachesSystemCalls, "only Linux lets a program take the place of calls of the system")
)
struct DiskFailureTests {
    @Test(
        "a disk that fails while a refresh is saved costs no call, and the new token is saved later",
        arguments: DiskFailure.all,
        // From the mark on, or only the result.
        [1, 2]
    )
    func result(_ failure: DiskFailure, firstSave: Int) async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let first = try await world.start()
            _ = try await first.ask(failure.plan(fromSave: firstSave))
            let call = try await first.ask(.call)
            #expect(call.failure == [])
            #expect(call.sent == [2])
            let events = try await first.ask(.awaitEvent("refreshed")).events
            #expect(events == ["signedIn", failure.event, "refreshed"])

            // The other one finds the old credential, and its lock is held.
            #expect(try await world.stored()?.unanswered == firstSave - 1)
            #expect(try await world.isLockFree() == false)
            let second = try await world.start(lockWait: .milliseconds(50))
            #expect(try await second.ask(.call).failure == ["authorization", "failed", "lockTimeout"])
            #expect(await world.server.counters.refreshes == 1)

            _ = try await first.ask(.mend)
            #expect(try await first.ask(.awaitEvent("storeRecovered")).events == ["storeRecovered"])
            #expect(try await world.stored()?.unanswered == 0)
            let adopted = try await second.ask(.call)
            #expect(adopted.failure == [])
            #expect(adopted.sent == [2])

            #expect(try await first.finish().events == [])
            #expect(try await world.isLockFree())
            #expect(try await world.endings() == ["json", "lock"])
            let counters = await world.server.counters
            #expect(counters.refreshes == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("flush fails while the disk is full, and writes once the disk works again")
    func flush() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            // Nothing is tried again by itself.
            let child = try await world.start(pause: .seconds(3600))
            _ = try await child.ask(DiskFailure.full.plan(fromSave: 2))
            #expect(try await child.ask(.call).failure == [])
            #expect(try await child.ask(.flush).failure == ["store", "full"])
            #expect(try await world.isLockFree() == false)

            _ = try await child.ask(.mend)
            #expect(try await child.ask(.flush).failure == [])
            #expect(try await world.isLockFree())
            #expect(try await world.once(.call).sent == [2])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a disk that fails while the token is marked is reported, and holds nothing up", arguments: DiskFailure.all)
    func mark(_ failure: DiskFailure) async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(failure.plan(fromSave: 1, count: 1))
            #expect(try await child.ask(.call).failure == [])
            let end = try await child.finish()
            #expect(end.events == ["signedIn", failure.event, "storeRecovered", "refreshed"])
            #expect(try await world.once(.call).sent == [2])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a disk that fails for long costs no refresh: each sends what the one before has brought")
    func severalRefreshes() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(DiskFailure.full.plan(fromSave: 1))
            #expect(try await child.ask(.call).sent == [2])
            await world.server.revokeAccessTokens()
            #expect(try await child.ask(.call).sent == [2, 3])

            _ = try await child.ask(.mend)
            _ = try await child.ask(.awaitEvent("storeRecovered"))
            #expect(try await world.once(.call).sent == [3])
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("a refresh that a failing disk loses with its process is made up for by a grace period")
    func killedWithUnsavedRefresh() async throws {
        try await SessionWorld.run(hasGrace: true) { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(DiskFailure.full.plan(fromSave: 2))
            #expect(try await child.ask(.call).failure == [])
            await child.kill()
            #expect(try await world.once(.call).sent == [2])
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.graceReuses == 1)
            #expect(counters.reuseDetected == 0)
        }
    }

    @Test("a disk that fails keeps nobody from signing out: a refresh not saved yet never is")
    func signOutOnFullDisk() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start()
            _ = try await child.ask(DiskFailure.full.plan(fromSave: 2))
            #expect(try await child.ask(.call).failure == [])
            #expect(try await child.ask(.signOut).failure == [])
            #expect(try await world.stored() == nil)
            #expect(await world.server.counters.tokensRevoked == 1)
            // The lock is no longer kept.
            let tokens = await world.tokens(isExpired: false)
            #expect(try await world.start().ask(.signIn(tokens)).failure == [])
            #expect(try await world.hasStored(tokens))
        }
    }

    @Test("a full disk keeps nobody from signing out elsewhere while the lock is kept for a refresh")
    func signOutElsewhere() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let first = try await world.start(pause: .seconds(3600))
            let second = try await world.start(lockWait: .zero, pause: .seconds(3600))
            _ = try await first.ask(DiskFailure.full.plan(fromSave: 2))
            _ = try await second.ask(.plan(.system(.write, .failure(ENOSPC), on: .end)))
            #expect(try await first.ask(.call).sent == [2])
            #expect(try await second.ask(.signOut).failure == [])

            let call = try await first.ask(.call)
            #expect(call.failure == ["authorization", "signedOut"])
            #expect(call.sent == [])
            await first.kill()
            #expect(try await world.once(.call).failure == ["authorization", "signedOut"])
        }
    }

    @Test("a store on a file system that has become read-only is locked all the same")
    func readOnlyFileSystem() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            // There is a lock from better days.
            #expect(try await world.isLockFree())
            let child = try await world.start()
            for path in [SessionFault.PathEnding.temporary, .lock] {
                _ = try await child.ask(.plan(.system(.open, .failure(EROFS), on: path)))
            }
            #expect(try await child.ask(.call).sent == [2])
            #expect(try await world.once(.call).failure == ["authorization", "failed", "lockTimeout"])

            _ = try await child.ask(.mend)
            _ = try await child.ask(.awaitEvent("storeRecovered"))
            #expect(try await world.once(.call).sent == [2])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("once the result has its place, needs no lock any more, since others adopt the result")
    func folder() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let child = try await world.start(pause: .seconds(3600))
            _ = try await child.ask(.plan(.system(.fsync, .failure(EIO), on: .folder, from: 2)))
            #expect(try await child.ask(.call).failure == [])
            #expect(try await world.isLockFree())
            let other = try await world.once(.call)
            #expect(other.failure == [])
            #expect(other.sent == [2])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a sign-in on a failing disk begins the session in this process, and is saved later")
    func signIn() async throws {
        try await SessionWorld.run { world in
            let tokens = await world.tokens(isExpired: false)
            let child = try await world.start()
            _ = try await child.ask(DiskFailure.full.plan(fromSave: 1))
            #expect(try await child.ask(.signIn(tokens)).failure == ["store", "full"])
            #expect(try await child.ask(.call).sent == [1])
            #expect(try await world.once(.call).failure == ["authorization", "signedOut"])

            _ = try await child.ask(.mend)
            let recovery = try await child.ask(.awaitEvent("storeRecovered"))
            #expect(recovery.events == ["signedIn", DiskFailure.full.event, "storeRecovered"])
            #expect(try await world.once(.call).sent == [1])
        }
    }

    @Test("a sign-out on a failing disk counts here, and elsewhere as soon as the disk works again")
    func signOut() async throws {
        try await SessionWorld.run { world in
            try await world.signIn(isExpired: false)
            let child = try await world.start()
            _ = try await child.ask(.plan(.system(.unlink, .failure(EROFS), on: .credential)))
            #expect(try await child.ask(.signOut).failure == ["store", "notPermitted"])
            #expect(try await child.ask(.call).failure == ["authorization", "signedOut"])
            #expect(await world.server.counters.tokensRevoked == 1)

            _ = try await child.ask(.mend)
            _ = try await child.ask(.awaitEvent("storeRecovered"))
            #expect(try await world.stored() == nil)
        }
    }

    @Test("the record of a session that ends on a failing disk goes as soon as the disk works again")
    func end() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            await world.server.endSessions()
            let child = try await world.start()
            // The first one is the mark.
            _ = try await child.ask(.plan(.system(.rename, .failure(EROFS), on: .credential, from: 2)))
            // Nor can the credential be removed, or a note of the end be written beside it, which is tried soon after.
            _ = try await child.ask(.plan(.system(.unlink, .failure(EROFS), on: .credential)))
            _ = try await child.ask(.plan(.system(.open, .failure(EROFS), on: .end)))
            #expect(try await child.ask(.call).failure == ["authorization", "sessionExpired", "invalidGrant"])
            let events = try await child.ask(.awaitEvent("sessionExpired")).events
            #expect(events == ["signedIn", "storeFailed store notPermitted", "sessionExpired"])
            #expect(try await world.stored()?.unanswered == 1)

            _ = try await child.ask(.mend)
            #expect(try await child.ask(.awaitEvent("storeRecovered")).events == ["storeRecovered"])
            #expect(try await world.stored() == nil)
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("a folder that others may enter is reported by an error of its own")
    func openFolder() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            try await world.setMode(0o755)
            let child = try await world.start()
            #expect(try await child.ask(.call).failure == ["authorization", "store", "notPrivate"])
            #expect(await world.server.counters.refreshes == 0)
            _ = try await child.finish()
            #expect(await child.ending() == .finished(hasFailed: true))

            try await world.setMode(0o700)
            #expect(try await world.once(.call).failure == [])
        }
    }
}
