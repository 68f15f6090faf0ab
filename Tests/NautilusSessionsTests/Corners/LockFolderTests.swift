import Foundation
import Nautilus
import Testing

@testable import NautilusSessions

@Suite("Locks as files in a folder")
struct LockFolderTests {
    private let folder: TestFolder
    private let locks: LockFolder
    private let key = CredentialKey(issuer: "https://id.test", client: "app")

    init() throws {
        folder = try TestFolder()
        locks = LockFolder(folder.store)
    }

    @Test("a lock that is given back is free, though a child process shares its open file")
    func sharedDescriptor() throws {
        let lock = try #require(try locks.lock(key))
        // A child that was forked and has not executed another program yet has the same open file, as a copy has.
        let copies = try openDescriptors().map { dup($0) }
        #expect(copies.count == 1)
        defer { for copy in copies { _ = close(copy) } }
        lock.unlock()
        #expect(try locks.lock(key) != nil)
    }

    @Test("a hundred locks leave no file open")
    func descriptors() throws {
        for _ in 1...100 { try #require(try locks.lock(key)).unlock() }
        for _ in 1...100 { _ = try #require(try locks.lock(key)) }
        #expect(try openDescriptors().isEmpty)
    }

    @Test("two never hold the lock, though its holders remove its file")
    func removedByHolders() async throws {
        let (path, holders, overlaps) = (try lockPath, Locked(0), Locked(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...2 {
                group.addTask {
                    for _ in 1...20_000 {
                        guard let lock = try? locks.lock(key) else { continue }
                        let isAlone = holders.withLock { holders in
                            holders += 1
                            return holders == 1
                        }
                        if !isAlone { overlaps.withLock { $0 += 1 } }
                        // From here on another may lock a new file, but none the old one.
                        holders.withLock { $0 -= 1 }
                        _ = unlink(path)
                        lock.unlock()
                    }
                }
            }
        }
        #expect(overlaps.withLock { $0 } == 0)
    }

    /// Activities of a system that suspends processes; a test says when the time of the last is up.
    private final class Activities: Sendable {
        typealias Block = @Sendable (_ hasExpired: Bool) -> Void
        let block = Locked<Block?>(nil)
        let (ends, ending) = AsyncStream.makeStream(of: Void.self)

        var activity: ExpiringActivity {
            ExpiringActivity { [self] block in
                self.block.withLock { $0 = block }
                Thread.detachNewThread {
                    block(false)
                    self.ending.yield()
                }
            }
        }
    }

    @Test("a lock lasts within an activity that ends with it")
    func withinActivity() async throws {
        let activities = Activities()
        let locks = LockFolder(StoreFolder(folder.store), within: activities.activity)
        for isDropped in [false, true] {
            var lock = try locks.lock(key)
            try #require(lock != nil)
            if !isDropped { lock?.unlock() }
            lock = nil
            for await _ in activities.ends { break }
            #expect(try self.locks.lock(key) != nil)
        }
        #expect(try openDescriptors().isEmpty)
    }

    @Test("a lock that is held when the time is up is given back before the process is suspended")
    func expired() async throws {
        let activities = Activities()
        let lock = try #require(try LockFolder(StoreFolder(folder.store), within: activities.activity).lock(key))
        #expect(try locks.lock(key) == nil)
        let block = try #require(activities.block.withLock { $0 })
        block(true)
        let next = try #require(try locks.lock(key))
        for await _ in activities.ends { break }
        // Its own end does no harm to the next holder.
        lock.unlock()
        #expect(try locks.lock(key) == nil)
        next.unlock()
    }

    @Test("a lock knows that it has gone: given back, taken by the system, or its file removed, or put anew")
    func isHeld() throws {
        let lock = try #require(try locks.lock(key))
        #expect(lock.isHeld)
        lock.unlock()
        #expect(!lock.isHeld)

        let activities = Activities()
        let expiring = try #require(try LockFolder(StoreFolder(folder.store), within: activities.activity).lock(key))
        #expect(expiring.isHeld)
        let block = try #require(activities.block.withLock { $0 })
        block(true)
        #expect(!expiring.isHeld)

        let path = try lockPath
        let removed = try #require(try locks.lock(key))
        _ = unlink(path)
        #expect(!removed.isHeld)
        let next = try #require(try locks.lock(key))
        #expect(!removed.isHeld)
        #expect(next.isHeld)
    }

    @Test("if the system gives a process no time, nothing stays locked")
    func noTime() throws {
        let lock = try #require(
            try LockFolder(StoreFolder(folder.store), within: ExpiringActivity { $0(true) }).lock(key)
        )
        #expect(try locks.lock(key) != nil)
        lock.unlock()
    }

    private var lockPath: String {
        get throws {
            try #require(try locks.lock(key)).unlock()
            return try folder.file(".lock").path
        }
    }

    /// The descriptors of this process that lead to the lock's file.
    private func openDescriptors() throws -> [Int32] {
        let file = try #require(try FileStatus(of: folder.file(".lock").path, followsLinks: false))
        return (0..<Int32(4_096)).filter { descriptor in
            var status = stat()
            return fstat(descriptor, &status) == 0 && FileStatus(status).isSameFile(as: file)
        }
    }
}
