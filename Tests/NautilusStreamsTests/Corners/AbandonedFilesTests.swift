import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Files that killed processes have left")
struct AbandonedFilesTests {
    private let folder = try? TemporaryFolder()

    /// Creates a file that was last written two hours, or a few seconds, ago.
    private func file(_ name: String, isOld: Bool = true) throws -> URL {
        let url = try #require(folder).file(name, Data([1]))
        let age = isOld ? AbandonedFiles.abandonedAge / .seconds(1) + 60 : 10
        let date = Date(timeIntervalSinceNow: -age)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
        return url
    }

    @Test("abandoned files go when nobody has written to or held them for long; files of other names stay")
    func removed() throws {
        let folder = try #require(folder)
        _ = try file(".nautilus-1.partial")
        _ = try file("nautilus-2.spool")
        let kept = ["nautilus-3.partial", ".nautilus-4.part", "my.partial", ".nautilus-5.spool"]
        for name in kept { _ = try file(name) }
        _ = try file(".nautilus-6.partial", isOld: false)
        AbandonedFiles.remove(.partial, in: folder.url, at: Date())
        #expect(try folder.names == (kept + [".nautilus-6.partial", "nautilus-2.spool"]).sorted())
        AbandonedFiles.remove(.spool, in: folder.url, at: Date())
        #expect(try folder.names == (kept + [".nautilus-6.partial"]).sorted())
    }

    #if os(Linux) || os(macOS)
        @Test("files stay while a process has them open, however long nothing was written")
        func held() throws {
            let folder = try #require(folder)
            let url = folder.url.appendingPathComponent(AbandonedFiles.Purpose.partial.name())
            let later = Date(timeIntervalSinceNow: 86_400)
            do {
                let file = try LocalFile(creating: url)
                AbandonedFiles.remove(.partial, in: folder.url, at: later)
                #expect(try folder.names.count == 1)
                withExtendedLifetime(file) {}
            }
            AbandonedFiles.remove(.partial, in: folder.url, at: later)
            #expect(try folder.names == [])
        }
    #endif

    @Test("abandoned files go with the next download into their folder, once in a run")
    func download() async throws {
        let folder = try #require(folder)
        let target = folder.url.appendingPathComponent("file.bin")
        for name in ["file.bin", ".nautilus-2.partial"] {
            let service = AnyHttpService(apiUrl: "a.com", transport: ScriptedTransport(.reply(text: "whole")))
            let leftover = try file(name == "file.bin" ? ".nautilus-1.partial" : name)
            try await Ping.get.download(to: target, with: service)
            await AbandonedFiles.queue.run {}
            #expect(FileManager.default.fileExists(atPath: leftover.path) == (name != "file.bin"))
        }
    }
}
