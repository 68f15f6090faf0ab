import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("HttpCache on disk", .timeLimit(.minutes(10)))
struct CacheDiskTests {
    /// A folder's place, which nobody has created; removed with the value.
    private final class Place {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("Cache-\(UUID().uuidString)/responses")

        deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

        var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
        var paths: [String] { names.map { url.path + "/" + $0 } }
        var size: Int { paths.reduce(0) { $0 + ((try? FileStatus(of: $1, followsLinks: false))?.size ?? 0) } }
    }

    private static func world(
        _ place: Place,
        maxBytes: Int = 1 << 20,
        memory: Int = 1 << 20,
        accounts: CacheAccounts = .anonymousOnly,
        body: Data = Data("one".utf8)
    ) -> CacheWorld {
        CacheWorld(accounts: accounts, maxBytes: memory, folder: CacheFolder(place.url, maxBytes: maxBytes)) { _, _ in
            .reply(
                header: ["Cache-Control": "max-age=60", "Set-Cookie": "id=secret", "Vary": "Accept, X-Absent"],
                body: body
            )
        }
    }

    @Test("a response outlives its process, for this user alone, and no name tells its URL or its account")
    func survives() async throws {
        let place = Place()
        let first = Self.world(place, accounts: .separate { _ in "anna" })
        #expect(await first.get(["Accept": "text/plain"], ["things", "secret-token"]) == "200 one")
        await first.cache.flush()
        #expect(place.names.count == 1)
        #expect(!place.names.joined().contains("secret") && !place.names.joined().contains("anna"))
        let content = try Data(contentsOf: URL(fileURLWithPath: place.paths[0]))
        for secret in ["id=secret", "secret-token", "anna"] { #expect(content.range(of: Data(secret.utf8)) == nil) }
        let modes = try (place.paths + [place.url.path]).map { try FileStatus(of: $0, followsLinks: false)?.mode }
        #expect(modes == [0o600, 0o700])

        let second = Self.world(place, accounts: .separate { _ in "anna" })
        #expect(await second.get(["Accept": "text/plain"], ["things", "secret-token"]) == "200 one age 0")
        #expect(await second.get(["Accept": "text/html"], ["things", "secret-token"]) == "200 one")
        #expect(second.transport.count == 1)
        let other = Self.world(place, accounts: .separate { _ in "bert" })
        #expect(await other.get(["Accept": "text/plain"], ["things", "secret-token"]) == "200 one")
    }

    @Test("a file in which any byte is changed, or that ends early, is not stored, and is removed")
    func damaged() async throws {
        let data = try CacheFile.encode([.test(["ETag": "\"1\""], selectors: ["accept": "a", "x-absent": nil])])
        #expect(CacheFile.decode(data) == [.test(["ETag": "\"1\""], selectors: ["accept": "a", "x-absent": nil])])
        for index in data.indices {
            var damaged = data
            damaged[index] ^= 1
            #expect(CacheFile.decode(damaged) == nil, "byte \(index)")
            #expect(CacheFile.decode(data.prefix(index)) == nil, "\(index) bytes")
        }
        let place = Place()
        let first = Self.world(place)
        _ = await first.get()
        await first.cache.flush()
        try Data("torn".utf8).write(to: URL(fileURLWithPath: try #require(place.paths.first)))
        let second = Self.world(place, memory: 0)
        #expect(await second.get() == "200 one")
        await second.cache.flush()
        #expect(place.names == [])
    }

    @Test("what is changed or removed is gone from the disk as well")
    func removal() async throws {
        let (place, user) = (Place(), Locked("anna"))
        let world = Self.world(place, accounts: .separate { _ in user.withLock { $0 } })
        for name in ["anna", "bert"] {
            user.withLock { $0 = name }
            for route in [["a"], ["b"]] as [HttpRoute] { _ = await world.get([:], route) }
        }
        await world.cache.flush()
        #expect(place.names.count == 4)
        _ = await world.get([:], ["a"], method: .post)
        await world.cache.flush()
        #expect(place.names.count == 2)
        await world.cache.removeAll(ofAccount: "anna")
        #expect(place.names.count == 1)
        try Data("not the cache's".utf8).write(to: place.url.appendingPathComponent("other"))
        await world.cache.removeAll()
        #expect(place.names == ["other"])
    }

    @Test("what a killed process has left of an account goes with the account")
    func removalOfTorn() async throws {
        let place = Place()
        let world = Self.world(place, accounts: .separate { _ in "anna" })
        _ = await world.get()
        await world.cache.flush()
        let annas = try #require(place.names.first)
        let digest = CachePartition(account: "anna").digest
        let berts = annas.replacingOccurrences(of: digest, with: CachePartition(account: "bert").digest)
        let torn = [annas, berts].map { $0 + ".1f.tmp" }
        for name in torn + ["other.tmp"] { try Data("a body".utf8).write(to: place.url.appendingPathComponent(name)) }
        await world.cache.removeAll(ofAccount: "anna")
        #expect(place.names == [torn[1], "other.tmp"].sorted())
        await world.cache.removeAll()
        #expect(place.names == ["other.tmp"])
    }

    @Test("what is replaced by something too large is gone")
    func replacedByLarge() async throws {
        let (place, partition) = (Place(), CachePartition(account: nil))
        let target = try #require(CacheTarget(trafficRequest))
        let disk = CacheDisk(CacheFolder(place.url, maxBytes: 10_000))
        disk.write([.test([:], body: "old")], target, partition)
        #expect(await disk.read(target, partition).map(\.body) == [Data("old".utf8)])
        disk.write([.test([:], body: String(repeating: "n", count: 10_000))], target, partition)
        #expect(await disk.read(target, partition) == [])
        #expect(place.names == [])
    }

    @Test("what is replaced is gone as well when the disk does not take the new")
    func replacedByNothing() async throws {
        let (place, partition) = (Place(), CachePartition(account: nil))
        let target = try #require(CacheTarget(trafficRequest))
        let name = "\(target.digest).\(partition.digest).cache"
        // So deep that the file's name just fits into a path, and that of the file in its place does not.
        var url = place.url
        var missing = Int(PATH_MAX) - 6 - (url.path + "/" + name).utf8.count
        while missing > 1 {
            let length = min(missing - 1, missing > 201 && missing < 205 ? 100 : 200)
            url.appendPathComponent(String(repeating: "d", count: length))
            missing -= length + 1
        }
        try #require((url.path + "/" + name).utf8.count == Int(PATH_MAX) - 6)
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let data = try CacheFile.encode([.test([:], body: "old")])
        try #require(FileManager.default.createFile(atPath: url.path + "/" + name, contents: data))
        let disk = CacheDisk(CacheFolder(url))
        #expect(await disk.read(target, partition).map(\.body) == [Data("old".utf8)])
        disk.write([.test([:], body: "new")], target, partition)
        #expect(await disk.read(target, partition) == [])
    }

    @Test("the folder is bounded: what was not used for longest goes first")
    func bounds() async throws {
        let place = Place()
        let world = Self.world(place, maxBytes: 20_000, body: Data(repeating: 0x41, count: 1_000))
        for number in 0..<40 {
            _ = await world.get([:], ["things", number])
            await world.cache.flush()
            #expect(place.size <= 20_000)
        }
        let later = Self.world(place, maxBytes: 20_000)
        #expect(await later.get([:], ["things", 39]).hasSuffix("age 0"))
        #expect(await later.get([:], ["things", 0]) == "200 one")
    }

    @Test("a folder that others may enter is not used, and no call fails for it")
    func notPrivate() async throws {
        let place = Place()
        try FileManager.default.createDirectory(
            at: place.url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let world = Self.world(place)
        #expect(await world.get() == "200 one")
        await world.cache.removeAll()
        #expect(await world.get() == "200 one")
        await world.cache.flush()
        #expect(place.names == [])
    }

    @Test("a symbolic link in the place of a file is not followed")
    func link() async throws {
        let place = Place()
        let first = Self.world(place)
        _ = await first.get()
        await first.cache.flush()
        let path = try #require(place.paths.first)
        let elsewhere = place.url.deletingLastPathComponent().appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(atPath: path, toPath: elsewhere.path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere.path)
        #expect(await Self.world(place).get() == "200 one")
    }

    @Test("many caches that share a folder never read a torn response")
    func shared() async throws {
        let place = Place()
        let url = place.url
        let bodies = (0..<4).map { Data(repeating: UInt8($0), count: 10_000) }
        let target = try #require(CacheTarget(trafficRequest))
        await withTaskGroup(of: Void.self) { group in
            for body in bodies {
                group.addTask {
                    let disk = CacheDisk(CacheFolder(url))
                    for _ in 0..<50 {
                        let stored = StoredResponse(
                            status: 200,
                            header: [:],
                            body: body,
                            selectors: [:],
                            requestTime: 0,
                            responseTime: 0
                        )
                        disk.write([stored], target, CachePartition(account: nil))
                        let read = await disk.read(target, CachePartition(account: nil))
                        #expect(read.count == 1 && bodies.contains(read[0].body))
                    }
                }
            }
        }
        #expect(place.names.count == 1)
    }
}
