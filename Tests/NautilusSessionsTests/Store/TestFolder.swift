import Foundation
import Testing

/// A folder of its own for one test, removed with the value.
final class TestFolder: Sendable {
    let url: URL

    /// In memory where the system has such a place: a thousand saves would wait for a disk a thousand times.
    init() throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        url = (isThere ? memory : FileManager.default.temporaryDirectory)
            .appendingPathComponent("nautilus-tests-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Where a store is to be; not there yet.
    var store: URL { url.appendingPathComponent("store") }

    /// Sets who may enter the store's folder.
    func setMode(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store.path)
    }

    /// The names in the store's folder, sorted.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
    }

    /// The one file with this ending in the store's folder.
    func file(_ ending: String) throws -> URL {
        let names = try names().filter { $0.hasSuffix(ending) }
        #expect(names.count == 1)
        return store.appendingPathComponent(try #require(names.first))
    }

    /// The one credential in the store's folder.
    func credentialFile() throws -> URL { try file(".json") }
}
