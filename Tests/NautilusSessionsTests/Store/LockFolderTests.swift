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
