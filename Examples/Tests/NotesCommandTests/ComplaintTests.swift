import Foundation
import Testing

@Suite("notes: complaints", .timeLimit(.minutes(10)))
struct ComplaintTests {
    @Test("a folder that others may enter is refused, by login before anybody fetches a phone")
    func openFolder() async throws {
        try await CommandBench.run { bench in
            let open = [FileAttributeKey.posixPermissions: NSNumber(value: 0o755)]
            try FileManager.default.createDirectory(
                at: bench.folder,
                withIntermediateDirectories: true,
                attributes: open
            )
            let path = bench.folder.path
            let complaint = #"notes: \#(path) is open to others, or not yours; run "chmod 700 \#(path)""#
            for arguments in [["login", "--approve"], ["list"], ["status"], ["logout"]] {
                let ending = try await bench.tool.ending(of: bench.tool.start(arguments))
                #expect(ending.code == 74 && ending.errors == complaint && ending.output.isEmpty, "\(arguments)")
            }
            #expect(await bench.server.counters.deviceAuthorizations == 0)
        }
    }

    @Test("a server that is not there: what to check, not what failed in which layer")
    func unknownServer() async throws {
        // Nothing listens on a port that was just given back.
        let bench = try await CommandBench()
        await bench.server.stop()
        let login = try await bench.tool.run("login")
        #expect(login.code == 69 && login.output.isEmpty)
        let complaint = "nothing listens at \(bench.server.origin); check the address, and that the server runs"
        #expect(login.errors == "notes: " + complaint)
        let verbose = try await bench.tool.run("login", "--verbose")
        #expect(verbose.errors.hasSuffix("\nnotes: " + complaint))
        #expect(verbose.errors.contains("3 attempts"))
    }

    @Test("a server by another name than its own is refused")
    func otherName() async throws {
        try await CommandBench.run { bench in
            let name = bench.server.origin.replacingOccurrences(of: "127.0.0.1", with: "localhost")
            let login = try await bench.tool.run("login", "--server", name)
            #expect(login.code == 64)
            #expect(login.errors == "notes: \(name) calls itself by another address; give the one that it prints")
        }
    }

    @Test("a sign-in that does not allow it: the scope, and how to get it")
    func missingScope() async throws {
        try await CommandBench.run { bench in
            #expect(try await bench.tool.run("login", "--approve", "--scope", "notes.read").code == 0)
            let add = try await bench.tool.run("add", "A shell")
            #expect(add.code == 77)
            #expect(
                add.errors == #"notes: this needs the scope notes.write; run "notes login", which asks for everything"#
            )
            #expect(await bench.server.counters.refreshes == 0)
        }
    }

    @Test("a session that the server has ended: sign in again, and the dead credential is gone")
    func endedSession() async throws {
        try await CommandBench.run { bench in
            #expect(try await bench.tool.run("login", "--approve").code == 0)
            await bench.server.endSessions()
            let list = try await bench.tool.run("list")
            #expect(list.code == 77)
            #expect(list.errors == #"notes: the sign-in to \#(bench.server.origin) is over; run "notes login""#)
            #expect(try await bench.stored == nil)
        }
    }

    @Test("options that reach the server are repeated in what to run")
    func options() async throws {
        let store = FileManager.default.temporaryDirectory.appendingPathComponent("no store \(UUID().uuidString)").path
        let list = try await NotesTool().run("list", "--server", "http://127.0.0.1:9/", "--store", store)
        #expect(list.code == 77)
        let command = #""notes login --server http://127.0.0.1:9 --store '\#(store)'""#
        #expect(list.errors == "notes: not signed in to http://127.0.0.1:9; run \(command)")
        // Looking is not keeping.
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test(
        "a command line that is wrong ends with 64, before anything is asked of the server",
        arguments: [
            ["list", "--page", "0"], ["show", "seven"], ["add", ""], ["list", "--server", "notes"],
            ["list", "--server", "http://a.example/v1"], ["race", "--processes", "0"], ["race", "--rounds", "101"],
            ["storm", "--rounds", "0"],
            ["serve", "--grace", "-1"], ["serve", "--port", "65536"], ["sing"],
        ]
    )
    func usage(_ arguments: [String]) async throws {
        let tool = NotesTool()
        let ending = try await tool.ending(of: tool.start(arguments))
        #expect(ending.code == 64 && ending.output.isEmpty)
        #expect(ending.errors.hasPrefix("Error: "))
    }

    @Test("an environment variable that is no URL is named")
    func variable() async throws {
        let list = try await NotesTool(environment: ["NOTES_SERVER": "notes.example"]).run("list")
        #expect(list.code == 64 && list.errors.contains("NOTES_SERVER has to be a URL"))
    }
}
