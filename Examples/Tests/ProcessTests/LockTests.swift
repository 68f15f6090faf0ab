import DemoServers
import Foundation
import SessionCommands
import Testing

@Suite("The lock among processes", .serialized, .timeLimit(.minutes(10)))
struct LockTests {
    @Test("the lock of one account holds up no other account: both refresh at the same time")
    func accounts() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            let accounts = ["alice", "bob"]
            for account in accounts { try await world.signIn(account: account) }
            var children: [SessionChild] = []
            for (number, account) in accounts.enumerated() {
                let child = try await world.start(account: account, lockWait: .zero)
                try child.tell(.call)
                // The first one is held there when the second one arrives.
                await refresh.waitForArrivals(number + 1)
                children.append(child)
            }
            for account in accounts { #expect(try await world.isLockFree(account: account) == false) }
            await refresh.open()
            var sent: [[Int]] = []
            for child in children { sent.append(try await child.reply().sent) }
            #expect(Set(sent) == [[3], [4]])
            let counters = await world.server.counters
            #expect(counters.refreshes == 2)
            #expect(counters.answers == [200: 2])
        }
    }

    @Test("the lock of one account holds up no other account whose credential is still valid")
    func otherAccount() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn(account: "alice")
            try await world.signIn(account: "bob", isExpired: false)
            let alice = try await world.start(account: "alice")
            try alice.tell(.call)
            await refresh.waitForArrivals(1)
            #expect(try await world.once(.call, account: "bob").sent == [2])
            await refresh.open()
            #expect(try await alice.reply().sent == [3])
        }
    }

    @Test("the lock among processes is waited for no longer than allowed, and nothing is sent meanwhile")
    func timeout() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let holder = try await world.start()
            #expect(try await holder.ask(.holdLock).failure == [])
            #expect(try await world.once(.holdLock).failure == ["lockIsHeld"])
            #expect(try await world.once(.call).failure == ["authorization", "failed", "lockTimeout"])
            #expect(await world.server.counters.refreshes == 0)

            await holder.kill()
            #expect(try await world.once(.call).failure == [])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("the lock among processes goes to a process that waits as soon as its holder is killed")
    func handedOver() async throws {
        let refresh = Barrier()
        try await SessionWorld.run(barriers: .init(refresh: refresh)) { world in
            try await world.signIn()
            let (holder, waiting) = (try await world.start(), try await world.start())
            #expect(try await holder.ask(.holdLock).failure == [])
            try waiting.tell(.call)
            await holder.kill()
            await refresh.waitForArrivals(1)
            await refresh.open()
            #expect(try await waiting.reply().sent == [2])
            #expect(await world.server.counters.refreshes == 1)
        }
    }

    @Test("the lock among processes is not inherited by a child, which would keep it when its parent is killed")
    func child() async throws {
        try await SessionWorld.run { world in
            try await world.signIn()
            let holder = try await world.start()
            #expect(try await holder.ask(.holdLock).failure == [])
            let child = try #require(try await holder.ask(.startChild).child)
            #expect(try await world.isLockFree() == false)

            await holder.kill()
            #expect(kill(child, 0) == 0)
            #expect(try await world.isLockFree())
            #expect(try await world.once(.call).failure == [])
            #expect(kill(child, 0) == 0)
        }
    }
}
