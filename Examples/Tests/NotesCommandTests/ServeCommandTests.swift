import Foundation
import Testing

@testable import notes

@Suite("notes: serve", .timeLimit(.minutes(10)))
struct ServeCommandTests {
    enum End: CaseIterable {
        case interrupt, termination, endOfInput
    }

    @Test(
        "notes serve serves until it is told to stop, in any of three ways, and then tells what it has counted",
        arguments: End.allCases
    )
    func stops(_ end: End) async throws {
        let serve = try NotesTool().start(["serve", "--port", "0"])
        let greeting = try #require(await serve.lines.first { _ in true })
        let url = try #require(greeting.split(separator: " ").first { $0.hasPrefix("http://127.0.0.1:") })
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let tool = NotesTool(environment: ["NOTES_SERVER": String(url), "NOTES_STORE": folder.path])
        #expect(try await tool.run("login", "--approve").code == 0)
        #expect(try await tool.run("list").code == 0)
        switch end {
        case .interrupt: serve.send(signal: SIGINT)
        case .termination: serve.send(signal: SIGTERM)
        case .endOfInput: serve.closeInput()
        }
        let ending = try await tool.ending(of: serve)
        #expect(ending.code == 0 && ending.errors.isEmpty)
        let counts = ending.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(counts.contains("device logins 1"))
        #expect(counts.contains("of which refreshes 0"))
        #expect(counts.contains("notes requests 1"))
        #expect(counts.contains("answered 200 1"))
    }

    @Test("a port that is taken: said at once, with what to do")
    func takenPort() async throws {
        try await CommandBench.run { bench in
            let port = try #require(bench.server.origin.split(separator: ":").last)
            let serve = try await NotesTool().run("serve", "--port", String(port))
            #expect(serve.code == 69 && serve.output.isEmpty)
            let reason = "port \(port) cannot be used (Address already in use)"
            #expect(serve.errors == "notes: \(reason); choose another --port, or 0")
        }
    }
}
