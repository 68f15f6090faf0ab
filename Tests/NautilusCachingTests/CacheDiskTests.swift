import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache on disk", .endsInTime)
struct CacheDiskTests {
    /// The place of a folder that was not created yet; removed with the value.
    private final class Place {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("Cache-\(UUID().uuidString)/responses")

        deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

        /// All files, with the folders within the folder that they are in.
        var names: [String] {
            let all = (try? FileManager.default.subpathsOfDirectory(atPath: url.path)) ?? []
            return all.filter { status($0)?.isRegularFile == true }.sorted()
        }
        var paths: [String] { names.map { url.path + "/" + $0 } }
        var size: Int { names.reduce(0) { $0 + (status($1)?.size ?? 0) } }
        /// The number on the disk of each file that is larger than a block.
        var large: Set<UInt64> {
            Set(names.compactMap { status($0) }.filter { $0.size > 4_096 }.map(\.inode))
        }

        func status(_ name: String) -> FileStatus? {
            try? FileStatus(of: url.path + "/" + name, followsLinks: false)
        }
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
        let stored = StoredResponse.test(["ETag": "\"1\""], selectors: ["accept": "a", "x-absent": nil])
        let data = try CacheFile.encode([stored])
        func decode(_ data: Data) -> [StoredResponse]? { CacheFile.decode(data) { _ in nil } }
        #expect(decode(data) == [stored])
        for index in data.indices {
            var damaged = data
            damaged[index] ^= 1
            #expect(decode(damaged) == nil, "byte \(index)")
            #expect(decode(data.prefix(index)) == nil, "\(index) bytes")
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

    @Test("a response that is changed or removed is gone from the disk as well")
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

    @Test("responses that an earlier launch left of other accounts are gone from the disk as well")
    func removalExceptOne() async throws {
        let (place, user) = (Place(), Locked<String?>(nil))
        let world = Self.world(place, accounts: .separate { _ in user.withLock { $0 } })
        for name in ["anna", "bert", nil] {
            user.withLock { $0 = name }
            _ = await world.get(isAnonymous: name == nil)
        }
        await world.cache.flush()
        #expect(place.names.count == 3)
        let next = Self.world(place, accounts: .separate { _ in "bert" })
        await next.cache.removeAll(exceptAccount: "bert")
        #expect(place.names.count == 2)
        _ = await next.get()
        #expect(next.transport.count == 0)
    }

    @Test("files that a killed process has left of an account are removed with the account")
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

    @Test("C25: a 304 and another variant write no body again: its file stays the one that it was")
    func bodyStays() async throws {
        let (place, clock) = (Place(), ManualClock())
        func world() -> CacheWorld {
            CacheWorld(clock: clock, folder: CacheFolder(place.url)) { request, _ in
                let header: HttpHeader = ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "Accept"]
                return request.header["If-None-Match"] == nil
                    ? .reply(header: header, text: String(repeating: "one", count: 10_000))
                    : .status(304, header: header)
            }
        }
        let first = world()
        _ = await first.get()
        await first.cache.flush()
        let bodies = place.large
        #expect(bodies.count == 1)
        for _ in 1...3 {
            first.advance(60)
            _ = await first.get()
        }
        await first.cache.flush()
        #expect(first.sentTags == ["-", "\"1\"", "\"1\"", "\"1\""])
        #expect(place.large == bodies)
        _ = await first.get(["Accept": "text/plain"])
        await first.cache.flush()
        #expect(place.large.isStrictSuperset(of: bodies) && place.large.count == 2)
        // The renewed header is there, in a process that renews it, too.
        let second = world()
        #expect(await second.get().hasSuffix("oneone age 0"))
        second.advance(60)
        #expect(await second.get().hasSuffix("oneone age 0"))
        await second.cache.flush()
        #expect(second.sentTags == ["\"1\""])
        #expect(place.large.isStrictSuperset(of: bodies))
    }

    @Test("a body goes with the response that it belongs to, and one that is missing or damaged is not served")
    func bodyFiles() async throws {
        let (place, partition) = (Place(), CachePartition(account: nil))
        let target = try #require(CacheTarget(trafficRequest))
        let disk = CacheDisk(CacheFolder(place.url))
        func stored(_ letter: String) -> StoredResponse {
            .test([:], body: String(repeating: letter, count: 5_000), selectors: ["accept": letter])
        }
        let (a, b, c) = (stored("a"), stored("b"), stored("c"))
        disk.write([a, b], target, partition)
        #expect(await disk.read(target, partition) == [a, b])
        disk.write([b, c], target, partition)
        #expect(await disk.read(target, partition) == [b, c])
        #expect(place.names.count == 3)
        let file = try #require(place.paths.first { $0.hasSuffix("\(b.bodyID).body") })
        var content = try Data(contentsOf: URL(fileURLWithPath: file))
        content[content.count - 1] ^= 1
        try content.write(to: URL(fileURLWithPath: file))
        #expect(await disk.read(target, partition) == [c])
        #expect(place.names.count == 2)
        disk.write([], target, partition)
        #expect(await disk.read(target, partition) == [])
        #expect(place.names == [])
    }

    @Test("C15: what was changed is looked for among the files of a few URLs, not among all")
    func removalLooksAtFew() async throws {
        let place = Place()
        let world = Self.world(place)
        _ = await world.get()
        await world.cache.flush()
        let (folder, name) = try #require(place.names.first.map { (($0 as NSString).deletingLastPathComponent, $0) })
        let elsewhere = folder == "00" ? "01" : "00"
        let decoy = elsewhere + "/" + (name as NSString).lastPathComponent
        try FileManager.default.createDirectory(
            at: place.url.appendingPathComponent(elsewhere),
            withIntermediateDirectories: false
        )
        try Data().write(to: place.url.appendingPathComponent(decoy))
        _ = await world.get(method: .post)
        await world.cache.flush()
        #expect(place.names == [decoy])
    }

    @Test("a stored response whose replacement is too large is gone")
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

    @Test("a replaced response is gone even if the new one cannot be written to the disk")
    func replacedByNothing() async throws {
        let (place, partition) = (Place(), CachePartition(account: nil))
        let target = try #require(CacheTarget(trafficRequest))
        // So deep that the file's name just fits into a path, and that of the file in its place does not.
        var url = place.url
        let name = "\(target.digest.prefix(2))/\(target.digest).\(partition.digest).cache"
        var missing = Int(PATH_MAX) - 6 - (url.path + "/" + name).utf8.count
        while missing > 1 {
            let length = min(missing - 1, missing > 201 && missing < 205 ? 100 : 200)
            url.appendPathComponent(String(repeating: "d", count: length))
            missing -= length + 1
        }
        let path = url.path + "/" + name
        try #require(path.utf8.count == Int(PATH_MAX) - 6)
        for folder in [url.path, (path as NSString).deletingLastPathComponent] {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        try #require(FileManager.default.createFile(atPath: path, contents: try CacheFile.encode([.test([:])])))
        let disk = CacheDisk(CacheFolder(url))
        #expect(await disk.read(target, partition).map(\.body) == [Data("body".utf8)])
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

    @Test("many caches that share a folder never read a torn response", arguments: [1_000, 10_000])
    func shared(size: Int) async throws {
        let place = Place()
        let (url, found) = (place.url, Counter())
        let target = try #require(CacheTarget(trafficRequest))
        await withTaskGroup(of: Void.self) { group in
            for letter in ["a", "b", "c", "d"] {
                group.addTask {
                    let disk = CacheDisk(CacheFolder(url))
                    for _ in 0..<50 {
                        let body = String(repeating: letter, count: size)
                        disk.write([.test([:], body: body)], target, CachePartition(account: nil))
                        let read = await disk.read(target, CachePartition(account: nil))
                        guard let first = read.first?.body.first else { continue }
                        found.increment()
                        #expect(read.map(\.body) == [Data(repeating: first, count: size)])
                    }
                }
            }
        }
        // A body with a file of its own can be gone between a look at the record and one at it, and is then asked for.
        #expect(size < CacheFile.blockSize ? found.value == 200 : found.value > 0)
        #expect(place.names.filter { $0.hasSuffix(".cache") }.count == 1)
        // One whose record another cache has replaced goes with the rest.
        let disk = CacheDisk(CacheFolder(url))
        disk.remove(target)
        await disk.flush()
        #expect(place.names == [])
    }
}
