import DemoServers
import Foundation
import NautilusOAuth
import Testing

@Suite("notes: one login over many runs", .timeLimit(.minutes(10)))
struct SessionCommandTests {
    @Test("login, list, an hour passes, list: one refresh; logout: the tokens are worthless, and the next list says so")
    func lifeOfLogin() async throws {
        try await CommandBench.run { bench in
            let (tool, server) = (bench.tool, bench.server)
            let login = try await tool.run("login", "--approve")
            #expect(login.code == 0, "\(login.errors)")
            #expect(login.output.contains("Signed in to \(server.origin) as notes-app."))
            #expect(login.output.contains("may      notes.read notes.write"))
            #expect(login.output.contains("access   for 60 min"))

            let list = try await tool.run("list")
            #expect(list.code == 0 && list.errors.isEmpty)
            #expect(list.output.hasPrefix("1\tNote 1\n") && list.output.hasSuffix("\npage 1 of 3"))
            #expect(await server.counters.refreshes == 0)

            try await bench.passHour()
            #expect(try await tool.run("status").output.contains("access   has expired; the next call refreshes it"))
            for _ in 1...2 { #expect(try await tool.run("list").code == 0) }
            #expect(await server.counters.refreshes == 1)
            #expect(await server.counters.requests == 3)

            let credential = try #require(try await bench.stored?.credential(as: OAuthCredential.self))
            let logout = try await tool.run("logout")
            #expect(logout.code == 0 && logout.output.contains("Signed out of"))
            #expect(try await bench.stored == nil)
            #expect(await server.counters.tokensRevoked == 1)
            let refusal = await #expect(throws: OAuthError.self) { try await bench.refresh(credential) }
            #expect(refusal?.kind == .invalidGrant)

            let late = try await tool.run("list")
            #expect(late.code == 77 && late.output.isEmpty)
            #expect(late.errors == #"notes: not signed in to \#(server.origin); run "notes login""#)
            #expect(await server.counters.requests == 3)
        }
    }

    @Test("a token that the server ends early is refreshed once, and the note is added once")
    func rejected() async throws {
        try await CommandBench.run { bench in
            #expect(try await bench.tool.run("login", "--approve").code == 0)
            await bench.server.expireAccessTokens()
            let add = try await bench.tool.run("add", "A shell", "--text", "Grown.", "--verbose")
            #expect(add.code == 0 && add.output == "Added note 31.")
            // The timeline: rejected, refreshed, sent again.
            #expect(add.errors.contains("2 attempts"))
            #expect(add.errors.contains("status 401"))
            #expect(try await bench.tool.run("show", "31").output == "A shell\n\nGrown.")
            #expect(try await bench.tool.run("delete", "31").output == "Note 31 is gone.")
            let counters = await bench.server.counters
            #expect(counters.refreshes == 1 && counters.reuseDetected == 0 && counters.notesCreated == 1)
        }
    }

    @Test("the code is shown before anybody can enter it, and entering it ends the wait")
    func typedCode() async throws {
        try await CommandBench.run { bench in
            let login = try bench.tool.start(["login"])
            let line = try #require(await login.lines.first { $0.contains("enter the code") })
            let code = try #require(line.split(separator: " ").last?.dropLast())
            #expect(await bench.server.approve(userCode: String(code)))
            let ending = try await bench.tool.ending(of: login)
            #expect(ending.code == 0 && ending.output.contains("Signed in to"))
        }
    }

    @Test("a user who declines is told how to be asked again, and nothing is kept")
    func declined() async throws {
        try await CommandBench.run { bench in
            let login = try bench.tool.start(["login"])
            let line = try #require(await login.lines.first { $0.contains("enter the code") })
            #expect(await bench.server.deny(userCode: String(try #require(line.split(separator: " ").last))))
            let ending = try await bench.tool.ending(of: login)
            #expect(ending.code == 77)
            #expect(ending.errors == #"notes: the access was declined; run "notes login" to ask again"#)
            #expect(try await bench.stored == nil)
        }
    }

    @Test("a second login takes the place of the first, whose tokens are revoked")
    func secondLogin() async throws {
        try await CommandBench.run { bench in
            #expect(try await bench.tool.run("login", "--approve").code == 0)
            let first = try #require(try await bench.stored)
            #expect(try await bench.tool.run("login", "--approve", "--scope", "notes.read").code == 0)
            #expect(try await bench.stored?.session != first.session)
            #expect(await bench.server.counters.tokensRevoked == 1)
            #expect(try await bench.tool.run("status").output.contains("may      notes.read\n"))
            #expect(try await bench.tool.run("list").code == 0)
        }
    }

    @Test("logout works without the server, and says that the tokens may live on")
    func logoutWithoutServer() async throws {
        let bench = try await CommandBench()
        #expect(try await bench.tool.run("login", "--approve").code == 0)
        await bench.server.stop()
        let logout = try await bench.tool.run("logout")
        #expect(logout.code == 69)
        #expect(logout.errors.hasPrefix("notes: signed out here, but the server may still accept the tokens: "))
        #expect(try await bench.stored == nil)
        let again = try await bench.tool.run("logout")
        #expect(again.code == 0 && again.output == "Nobody was signed in to \(bench.server.origin).")
    }

    @Test("Ctrl-C during a refresh ends the call, but not before what the server has issued is saved")
    func interrupted() async throws {
        let barrier = Barrier()
        try await CommandBench.run(barriers: .init(refresh: barrier)) { bench in
            let expired = try await bench.signInExpired()
            let list = try bench.tool.start(["list"])
            await barrier.waitForArrivals(1)
            list.send(signal: SIGINT)
            let line = await list.errorLines.first { _ in true }
            #expect(line == "notes: stopped before the server had answered")
            // Time enough to end in, for one that did not wait.
            #expect(try await bench.tool.run("status").output.contains("has expired"))
            await barrier.open()
            let ending = try await bench.tool.ending(of: list)
            #expect(ending.code == 130 && ending.output.isEmpty && ending.errors.isEmpty)

            let stored = try #require(try await bench.stored)
            #expect(
                try stored.credential(as: OAuthCredential.self).refreshToken != expired.refreshToken
                    && stored.unanswered == 0
            )
            #expect(try await bench.tool.run("list").code == 0)
            let counters = await bench.server.counters
            #expect(counters.refreshes == 1 && counters.reuseDetected == 0)
        }
    }
}
