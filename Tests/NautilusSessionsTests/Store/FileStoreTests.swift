import Foundation
import Nautilus
import Testing

@testable import NautilusSessions

// An open that waits for a named pipe would never return.
@Suite("FileStore", .timeLimit(.minutes(60)))
struct FileStoreTests {
    private let folder: TestFolder
    private let store: FileStore
    private let key = CredentialKey(issuer: "https://as.example", client: "notes", account: "anna")

    init() throws {
        folder = try TestFolder()
        store = FileStore(folder: folder.store)
    }

    // --- Files ---

    @Test("a store that is only asked leaves nothing behind, not even its folder")
    func untouched() async throws {
        #expect(try await store.load(key) == nil)
        #expect(try store.version(of: key) == nil)
        try await store.delete(key)
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test("a session's end is noted while a save hangs, which may be of another key")
    func hangingSave() async throws {
        try await store.save(.first, for: key)
        let (hang, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        store.records.begin {
            goOn.signal()
            hang.wait()
        }
        goOn.wait()
        #expect(try await store.end(StoredCredential.first.session, for: key) == .first)
        #expect(try await store.isEnded(StoredCredential.first.session, for: key))
        hang.signal()
        #expect(try await store.load(key) == nil)
    }

    @Test("a key has one file, and one more for its lock, which stays; a delete leaves only that")
    func files() async throws {
        try await store.save(.first, for: key)
        try await store.save(.second, for: key)
        #expect(try folder.names() == [name + ".json"])
        try #require(try await store.lock(key)).unlock()
        #expect(try folder.names() == [name + ".json", name + ".lock"])
        try await store.delete(key)
        #expect(try folder.names() == [name + ".lock"])
        #expect(try Data(contentsOf: folder.file(".lock")).isEmpty)
    }

    @Test("file names are made of a digest, which another program agrees on")
    func names() async throws {
        try await store.save(.first, for: StoredText.key)
        #expect(try folder.names() == ["ccd1d8a3149020520f2cfb1489f2857cd08ff4bc83954830b540e1e6a27c988c.json"])
    }

    @Test(
        "whatever a key contains, its files are in the folder",
        arguments: ["../../a", "/etc/a", "a\0b", "", "😀", "."]
    )
    func traversal(_ text: String) async throws {
        let key = CredentialKey(issuer: text, client: text, account: text)
        try await store.save(.first, for: key)
        try #require(try await store.lock(key)).unlock()
        #expect(try folder.names().count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store"])
        #expect(try await store.load(key) == .first)
    }

    @Test("parts of a key do not run into each other; texts that are equal name the same file, composed or not")
    func identity() async throws {
        try await store.save(.first, for: CredentialKey(issuer: "a", client: "bc"))
        #expect(try await store.load(CredentialKey(issuer: "ab", client: "c")) == nil)
        #expect(try await store.load(CredentialKey(issuer: "a", client: "b", account: "c")) == nil)
        try await store.save(.first, for: CredentialKey(issuer: "a", client: "b", account: "Ren\u{e9}"))
        let decomposed = CredentialKey(issuer: "a", client: "b", account: "Rene\u{301}")
        #expect(try await FileStore(folder: folder.store).load(decomposed) == .first)
    }

    @Test("more keys than are remembered are found all the same")
    func manyKeys() async throws {
        let keys = (0..<1_100).map { CredentialKey(issuer: "a", client: "b", account: "\($0)") }
        try await store.save(.first, for: keys[0])
        for key in keys.dropFirst() { #expect(try store.version(of: key) == nil) }
        #expect(try await store.load(keys[0]) == .first)
    }

    // --- Privacy ---

    @Test("the folder and the files are for this user alone, the folders around it as usual")
    func modes() async throws {
        let deep = folder.url.appendingPathComponent("around/it/store")
        let store = FileStore(folder: deep)
        try await store.save(.first, for: key)
        try #require(try await store.lock(key)).unlock()
        try await store.end(UUID(), for: key)
        #expect(try mode(deep) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: deep.path) {
            #expect(try mode(deep.appendingPathComponent(name)) == 0o600)
        }
        let usual = folder.url.appendingPathComponent("usual")
        try FileManager.default.createDirectory(at: usual, withIntermediateDirectories: false)
        #expect(try mode(folder.url.appendingPathComponent("around/it")) == mode(usual))
    }

    @Test("something else in the place of the ended sessions is named, and nothing is stored that nobody could read")
    func foreignEnds() async throws {
        try await store.save(.first, for: key)
        let place = folder.store.appendingPathComponent(name + ".ended")
        let foreign = CredentialStoreError.foreign(place: name + ".ended")
        for isLink in [false, true] {
            if isLink {
                try FileManager.default.createSymbolicLink(at: place, withDestinationURL: folder.url)
            } else {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            }
            await #expect(throws: foreign) { try await store.save(.second, for: key) }
            await #expect(throws: foreign) { try await store.load(key) }
            await #expect(throws: foreign) { try await store.end(UUID(), for: key) }
            try FileManager.default.removeItem(at: place)
        }
        #expect(try await store.load(key) == .first)
    }

    @Test(
        "a folder that others may use in any way is neither read nor saved to, but what is in it can be removed",
        arguments: [0o755, 0o750, 0o710, 0o701, 0o777]
    )
    func notPrivate(_ mode: Int) async throws {
        try await store.save(.first, for: key)
        try setMode(mode, folder.store)
        let refusal = CredentialStoreError.notPrivate(place: "store")
        await #expect(throws: refusal) { try await store.load(key) }
        await #expect(throws: refusal) { try await store.save(.second, for: key) }
        #expect(try await store.lock(key) != nil)
        try setMode(0o700, folder.store)
        #expect(try await store.load(key) == .first)
        try setMode(mode, folder.store)
        #expect(try await store.end(StoredCredential.second.session, for: key) == nil)
        #expect(try await store.isEnded(StoredCredential.second.session, for: key))
        try await store.delete(key)
        try setMode(0o700, folder.store)
        #expect(try await store.load(key) == nil)
    }

    @Test("a folder of another user is refused", .enabled(if: geteuid() == 0))
    func otherUser() async throws {
        try await store.save(.first, for: key)
        #expect(chown(folder.store.path, 1, 1) == 0)
        await #expect(throws: CredentialStoreError.notPrivate(place: "store")) { try await store.load(key) }
    }

    // --- Files that others put there ---

    /// The things that may stand where the credential's file would.
    enum Obstacle: CaseIterable {
        case link, danglingLink, folder, namedPipe
    }

    @Test("a record that is no file is foreign, and no link is followed", arguments: Obstacle.allCases)
    func obstacles(_ obstacle: Obstacle) async throws {
        let target = folder.url.appendingPathComponent("target")
        let data = try CredentialFormat.encode(.first, for: key, place: "p")
        try data.write(to: target)
        try await store.lock(key)?.unlock()
        try put(obstacle, at: folder.store.appendingPathComponent(name + ".json"), target)
        let foreign = CredentialStoreError.foreign(place: name + ".json")
        await #expect(throws: foreign) { try await store.load(key) }
        await #expect(throws: foreign) { try await store.save(.second, for: key) }
        await #expect(throws: foreign) { try await store.delete(key) }
        #expect(try store.version(of: key) != nil)
        #expect(try await store.lock(key) != nil)
        #expect(try folder.names() == [name + ".json", name + ".lock"])
        #expect(try Data(contentsOf: target) == data)
    }

    @Test("the file of a lock has to be a regular file", arguments: Obstacle.allCases)
    func lockObstacles(_ obstacle: Obstacle) async throws {
        try await store.save(.first, for: key)
        let target = folder.url.appendingPathComponent("target")
        try Data().write(to: target)
        try put(obstacle, at: folder.store.appendingPathComponent(name + ".lock"), target)
        // A folder cannot even be opened for writing.
        let error: CredentialStoreError =
            obstacle == .folder
            ? .system(operation: "open", place: name + ".lock", code: Int(EISDIR)) : .foreign(place: name + ".lock")
        await #expect(throws: error) { try await store.lock(key) }
    }

    @Test("a file in the place of the folder is foreign; one around it is what the system says")
    func fileForFolder() async throws {
        try Data().write(to: folder.store)
        await #expect(throws: CredentialStoreError.foreign(place: "store")) { try await store.load(key) }
        await #expect(throws: CredentialStoreError.foreign(place: "store")) { try await store.save(.first, for: key) }
        let below = FileStore(folder: folder.store.appendingPathComponent("below"))
        let error = CredentialStoreError.system(operation: "stat", place: "below", code: Int(ENOTDIR))
        await #expect(throws: error) { try await below.save(.first, for: key) }
    }

    @Test("the folder may be reached through a link")
    func linkedFolder() async throws {
        try await store.save(.first, for: key)
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.store)
        #expect(try await FileStore(folder: link).load(key) == .first)
    }

    @Test("no more than 1 MiB is read, whatever the size of the file")
    func size() async throws {
        try await store.save(.first, for: key)
        let file = try FileHandle(forWritingTo: folder.credentialFile())
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        await #expect(throws: CredentialStoreError.damaged(place: name + ".json")) { try await store.load(key) }
        try await store.save(.second, for: key)
        #expect(try await store.load(key) == .second)
    }

    @Test("taking the lock removes what killed saves of this key have left, and nothing else")
    func leftovers() async throws {
        try await store.save(.first, for: key)
        let kept = ["other.1f.tmp", name + "x.1f.tmp", name + ".txt", "x" + name + ".1f.tmp"]
        for name in kept + [name + ".1f.tmp", name + ".abc.tmp"] {
            try Data().write(to: folder.store.appendingPathComponent(name))
        }
        let lock = try #require(try await store.lock(key))
        #expect(try Set(folder.names()) == Set(kept + [name + ".json", name + ".lock"]))
        // A process that does not get the lock may not remove what its holder is writing.
        try Data().write(to: folder.store.appendingPathComponent(name + ".2f.tmp"))
        #expect(try await store.lock(key) == nil)
        #expect(try folder.names().contains(name + ".2f.tmp"))
        withExtendedLifetime(lock) {}
    }

    @Test("the folder is looked through with the first lock of a key in a run, and not with each")
    func leftoversOnce() async throws {
        try #require(try await store.lock(key)).unlock()
        let leftover = name + ".1f.tmp"
        try Data().write(to: folder.store.appendingPathComponent(leftover))
        try #require(try await store.lock(key)).unlock()
        #expect(try folder.names().contains(leftover))
        // Another run of the program.
        try #require(try await FileStore(folder: folder.store).lock(key)).unlock()
        #expect(try !folder.names().contains(leftover))
    }

    @Test("a delete removes what a killed save has left since, so that no token outlives the sign-out")
    func leftoversOfDelete() async throws {
        let lock = try #require(try await store.lock(key))
        try await store.save(.first, for: key)
        try Data().write(to: folder.store.appendingPathComponent(name + ".1f.tmp"))
        try await store.delete(key)
        #expect(try folder.names() == [name + ".lock"])
        withExtendedLifetime(lock) {}
    }

    @Test("a lock whose file was removed is taken on a new one")
    func removedLock() async throws {
        try #require(try await store.lock(key)).unlock()
        try FileManager.default.removeItem(at: folder.file(".lock"))
        let lock = try #require(try await store.lock(key))
        #expect(try await FileStore(folder: folder.store).lock(key) == nil)
        withExtendedLifetime(lock) {}
    }

    @Test("no child process inherits an open file, and with it a lock")
    func closedOnExecution() throws {
        let descriptor = try OpenFile(folder.url.path + "/file", O_RDWR | O_CREAT, mode: 0o600).release()
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
        #expect(close(descriptor) == 0)
    }

    // --- Versions ---

    @Test("a save is dated later than the one before, though the clock was set back")
    func clockSetBack() async throws {
        try await store.save(.first, for: key)
        let file = try folder.credentialFile().path
        for (future, next) in [
            (timespec(tv_sec: 4_000_000_000, tv_nsec: 5), timespec(tv_sec: 4_000_000_000, tv_nsec: 6)),
            (timespec(tv_sec: 4_000_000_000, tv_nsec: 999_999_999), timespec(tv_sec: 4_000_000_001, tv_nsec: 0)),
        ] {
            #expect(utimensat(AT_FDCWD, file, [future, future], 0) == 0)
            try await store.save(.second, for: key)
            let modified = try #require(try FileStatus(of: file, followsLinks: false)).modified
            #expect(modified.tv_sec == next.tv_sec)
            #expect(modified.tv_nsec == next.tv_nsec)
        }
    }

    // --- Tools ---

    /// The name of the files of ``key``.
    private var name: String { StoreFile(of: key, in: "").place.replacingOccurrences(of: ".json", with: "") }

    private func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private func setMode(_ mode: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    private func put(_ obstacle: Obstacle, at url: URL, _ target: URL) throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
        switch obstacle {
        case .link: try FileManager.default.createSymbolicLink(at: url, withDestinationURL: target)
        case .danglingLink:
            try FileManager.default.createSymbolicLink(
                at: url,
                withDestinationURL: URL(fileURLWithPath: "/no/such/file")
            )
        case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        case .namedPipe: #expect(mkfifo(url.path, 0o600) == 0)
        }
    }
}
