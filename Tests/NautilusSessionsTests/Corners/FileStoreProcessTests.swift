import Foundation
import NautilusSessions
import Testing

// Changes to a process as a whole, and its end, happen in a separate one.
#if compiler(>=6.3) && (os(macOS) || os(Linux))
    @Suite("FileStore: processes")
    struct FileStoreProcessTests {
        private static let key = CredentialKey(issuer: "https://as.example", client: "notes")

        @Test(
            "whatever the umask is, folder and files are for this user alone, from the start",
            arguments: [0, 0o022, 0o277, 0o777]
        )
        func umasks(_ mask: Int) async throws {
            let folder = try TestFolder()
            await #expect(processExitsWith: .success) { [url = folder.store as URL, mask = mask as Int] in
                umask(mode_t(mask))
                let store = FileStore(folder: url)
                try await store.save(.first, for: Self.key)
                try #require(try await store.lock(Self.key)).unlock()
                #expect(try await store.load(Self.key) == .first)
                #expect(try Self.mode(url) == 0o700)
                let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
                #expect(names.count == 2)
                for name in names { #expect(try Self.mode(url.appendingPathComponent(name)) == 0o600) }
            }
        }

        @Test("a save that fails half-way leaves the old credential, and nothing else")
        func failedSave() async throws {
            let folder = try TestFolder()
            await #expect(processExitsWith: .success) { [url = folder.store as URL] in
                let store = FileStore(folder: url)
                try await store.save(.first, for: Self.key)
                let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
                // The first hundred bytes are written, the next are refused.
                signal(SIGXFSZ, SIG_IGN)
                var limit = rlimit()
                #expect(getrlimit(Self.fileSize, &limit) == 0)
                let usual = limit.rlim_cur
                limit.rlim_cur = 100
                #expect(setrlimit(Self.fileSize, &limit) == 0)
                let error = await #expect(throws: CredentialStoreError.self) {
                    try await store.save(.second, for: Self.key)
                }
                limit.rlim_cur = usual
                #expect(setrlimit(Self.fileSize, &limit) == 0)
                guard case .system("write", _, code: Int(EFBIG)) = error else { throw CancellationError() }
                #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == names)
                #expect(try await store.load(Self.key) == .first)
            }
        }

        @Test("a holder that is killed loses the lock, and leaves what it had saved")
        func killed() async throws {
            let folder = try TestFolder()
            await #expect(processExitsWith: .signal(SIGKILL)) { [url = folder.store as URL] in
                let store = FileStore(folder: url)
                let lock = try #require(try await store.lock(Self.key))
                try await store.save(.first, for: Self.key)
                kill(getpid(), SIGKILL)
                withExtendedLifetime(lock) {}
            }
            let store = FileStore(folder: folder.store)
            #expect(try await store.load(Self.key)?.content == Data("first".utf8))
            #expect(try await store.lock(Self.key) != nil)
        }

        @Test("a lock of this process is one for others too")
        func others() async throws {
            let folder = try TestFolder()
            let store = FileStore(folder: folder.store)
            let lock = try #require(try await store.lock(Self.key))
            await #expect(processExitsWith: .success) { [url = folder.store as URL] in
                let lock = try await FileStore(folder: url).lock(Self.key)
                #expect(lock == nil)
            }
            lock.unlock()
        }

        @Test(
            "a folder that may only be read can be loaded from and locked, if it has been before; the rest is not permitted"
        )
        func readOnly() async throws {
            let folder = try TestFolder()
            // Root may write everywhere, so the process becomes the user `nobody`.
            if geteuid() == 0 { #expect(chown(folder.url.path, 65_534, 65_534) == 0) }
            await #expect(processExitsWith: .success) { [url = folder.store as URL] in
                if geteuid() == 0 { #expect(setuid(65_534) == 0) }
                let store = FileStore(folder: url)
                let other = CredentialKey(issuer: "https://as.example", client: "other")
                try await store.save(.first, for: Self.key)
                try #require(try await store.lock(Self.key)).unlock()
                let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
                let lockName = try #require(names.first { $0.hasSuffix(".lock") })
                let leftover = url.appendingPathComponent(lockName.dropLast(4) + "1f.tmp")
                try Data().write(to: leftover)
                // Not even the lock's file may be written, as on a read-only volume.
                #expect(chmod(url.appendingPathComponent(lockName).path, 0o400) == 0)
                #expect(chmod(url.path, 0o500) == 0)

                let lock = try await store.lock(Self.key)
                #expect(lock != nil)
                let second = try await FileStore(folder: url).lock(Self.key)
                #expect(second == nil)
                #expect(try await store.load(Self.key) == .first)
                await Self.expectNotPermitted { try await store.save(.second, for: Self.key) }
                await Self.expectNotPermitted { try await store.delete(Self.key) }
                await Self.expectNotPermitted { _ = try await store.lock(other) }
                #expect(try await store.load(Self.key) == .first)
                #expect(FileManager.default.fileExists(atPath: leftover.path))

                #expect(chmod(url.path, 0) == 0)
                await Self.expectNotPermitted { _ = try await store.load(Self.key) }
                await Self.expectNotPermitted { _ = try store.version(of: Self.key) }
                #expect(chmod(url.path, 0o700) == 0)
            }
        }

        @Test("an end that was noted, and got no further, is noticed by whoever knows the record")
        func halfEnded() async throws {
            let folder = try TestFolder()
            // Root may read every folder, so the process becomes nobody.
            if geteuid() == 0 { #expect(chown(folder.url.path, 65_534, 65_534) == 0) }
            await #expect(processExitsWith: .success) { [url = folder.store as URL] in
                if geteuid() == 0 { #expect(setuid(65_534) == 0) }
                let store = FileStore(folder: url)
                try await store.save(.first, for: Self.key)
                let version = try store.version(of: Self.key)
                // It can be written to, and not be opened to be synchronised: the end comes to a stop in the middle, as
                // that of a process does which is killed there.
                #expect(chmod(url.path, 0o300) == 0)
                let session = try #require(try await store.load(Self.key)?.session)
                await Self.expectNotPermitted { try await store.end(session, for: Self.key) }
                #expect(try await store.load(Self.key) == nil)
                #expect(try store.version(of: Self.key) != version)
                #expect(chmod(url.path, 0o700) == 0)
            }
        }

        private static func expectNotPermitted(_ work: () async throws -> Void) async {
            await #expect {
                try await work()
            } throws: { error in
                guard case CredentialStoreError.notPermitted = error else { return false }
                return true
            }
        }

        private static func mode(_ url: URL) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            return try #require(attributes[.posixPermissions] as? NSNumber).intValue
        }

        #if canImport(Glibc)
            private static let fileSize = Int32(RLIMIT_FSIZE.rawValue)
        #else
            private static let fileSize = RLIMIT_FSIZE
        #endif
    }
#endif
