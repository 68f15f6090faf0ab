import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

/// A credential that says when it expires, on a device whose clock is two hours ahead: it is over when it comes.
@Suite("A device clock that is ahead")
struct WrongClockTests {
    private struct World {
        let base: TokenWorld
        /// The tokens that the server takes no more for notes, though it refreshes them.
        let rejected = Locked<Set<String>>([])

        init(_ base: TokenWorld) {
            self.base = base
            base.server.transport.on(.get, "/notes") { [rejected] request, _ in
                let token = request.header["X-Api-Token"] ?? ""
                let isRejected = rejected.withLock { $0.contains(token) }
                return isRejected || !base.server.accepts(token) ? .status(401) : .reply(text: token)
            }
        }

        func process(store: (any CredentialStore)? = nil) -> Session<ApiToken> {
            let world = base
            return world.process(
                SessionRules(
                    authorize: { token, request in request.header["X-Api-Token"] = token.value },
                    lifetime: { .seconds($0.expires.timeIntervalSince(world.date) - 7200) },
                    refresh: { token in
                        let value = try await SendToken(token: token).schedule(with: world.api)
                        return ApiToken(value: value, expires: world.date.addingTimeInterval(3600))
                    }
                ),
                store: store
            )
        }

        func signedIn() async throws -> (Session<ApiToken>, Session<ApiToken>) {
            let (first, second) = (process(), process())
            try await first.signIn(base.server.signIn("anna", at: base.date))
            try await second.restore()
            return (first, second)
        }
    }

    @Test("with a clock ahead, one of two processes refreshes once, and both go on with the result")
    func twoProcesses() async throws {
        try await TokenWorld.run { base in
            let world = World(base)
            let (first, second) = try await world.signedIn()
            for _ in 1...10 {
                #expect(await base.call(first).token == "anna-2")
                #expect(await base.call(second).token == "anna-2")
                try await base.sleep(.seconds(1))
            }
            #expect(base.server.refreshes == ["anna-1"])
        }
    }

    @Test(
        "with a clock ahead, one refresh serves two processes, whichever of them calls first",
        arguments: 0..<20 as Range<UInt64>
    )
    func atOnce(seed: UInt64) async throws {
        try await TokenWorld.run(seed: seed) { base in
            let world = World(base)
            let (first, second) = try await world.signedIn()
            for _ in 1...5 {
                async let one = base.call(first)
                async let other = base.call(second)
                #expect(await [one.token, other.token] == ["anna-2", "anna-2"])
            }
            #expect(base.server.refreshes == ["anna-1"])
        }
    }

    @Test("with a wrong clock, the next launch refreshes no valid credential", arguments: [false, true])
    func nextLaunch(isEncrypted: Bool) async throws {
        try await TokenWorld.run { base in
            let world = World(base)
            let store: any CredentialStore =
                isEncrypted ? EncryptedStore(base.store, cipher: Reversed()) : base.store
            let first = world.process(store: store)
            try await first.signIn(base.server.signIn("anna", at: base.date))
            for _ in 1...3 {
                let process = world.process(store: store)
                #expect(await base.call(process).token == "anna-2")
                #expect(await base.call(process).token == "anna-2")
            }
            #expect(base.server.refreshes == ["anna-1"])
        }
    }

    @Test("with a clock ahead, a rejection by the server leads to one refresh for both processes")
    func rejected() async throws {
        try await TokenWorld.run { base in
            let world = World(base)
            let (first, second) = try await world.signedIn()
            for number in 2...5 {
                #expect(await base.call(first).token == "anna-\(number)")
                #expect(await base.call(second).token == "anna-\(number)")
                world.rejected.withLock { _ = $0.insert("anna-\(number)") }
                try await base.sleep(.seconds(60))
            }
            #expect(base.server.refreshes == ["anna-1", "anna-2", "anna-3", "anna-4"])
        }
    }

    @Test("a credential that has expired since it came is not sent, though another process has refreshed it")
    func expiredSince() async throws {
        try await TokenWorld.run { base in
            let first = try await base.signedIn()
            let second = base.process()
            try await second.restore()
            try await base.sleep(.seconds(3600))
            #expect(await base.call(first).token == "anna-2")
            try await base.sleep(.seconds(3600))
            #expect(await base.call(second).token == "anna-3")
            #expect(base.server.carried == ["anna-2", "anna-3"])
        }
    }
}

private struct Reversed: CredentialCipher {
    func seal(_ bytes: Data, context: Data) throws -> Data { Data(bytes.reversed()) }
    func open(_ sealed: Data, context: Data) throws -> Data { Data(sealed.reversed()) }
}
