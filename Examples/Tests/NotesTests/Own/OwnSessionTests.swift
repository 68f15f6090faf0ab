import Foundation
import Nautilus
import NautilusTesting
import Testing

/// Two processes are two sessions on one file: neither knows the other's coordinator.
@Suite("A session of one's own that processes share by a file")
struct OwnSessionTests {
    @Test("two processes whose token is dead make one refresh, and all succeed", arguments: 0..<20 as Range<UInt64>)
    func oneRefresh(seed: UInt64) async throws {
        try await SharedFile.run(seed: seed) { world in
            let (first, second) = (world.process(), world.process())
            try await first.signIn(world.record(1))
            let results = await world.calls(10, first, second)
            #expect(results == Array(repeating: "ok", count: 20))
            #expect(world.spent == ["refresh-1"])
        }
    }

    @Test("a process that comes later finds the fresh token, and refreshes nothing")
    func later() async throws {
        try await SharedFile.run { world in
            let first = world.process()
            try await first.signIn(world.record(1))
            #expect(await world.calls(1, first) == ["ok"])
            #expect(await world.calls(1, world.process()) == ["ok"])
            #expect(world.spent == ["refresh-1"])
        }
    }

    @Test("a sign-out in one process signs out in the other")
    func signOut() async throws {
        try await SharedFile.run { world in
            let (first, second) = (world.process(), world.process())
            try await first.signIn(world.record(2))
            #expect(await world.calls(1, first, second) == ["ok", "ok"])
            try await second.signOut()
            #expect(await world.calls(1, first) == ["\(RefreshError.signedOut)"])
        }
    }

    @Test(
        "what began before another user signed in elsewhere never goes out as that user",
        arguments: 0..<20 as Range<UInt64>
    )
    func otherUser(seed: UInt64) async throws {
        try await SharedFile.run(seed: seed) { world in
            let (first, second) = (world.process(), world.process())
            try await first.signIn(world.record(1))
            async let results = world.calls(5, first)
            try await world.clock.sleep(for: .milliseconds(5))
            try await second.signIn(world.record(2))
            #expect(await results == Array(repeating: "\(RefreshError.superseded)", count: 5))
            #expect(!world.sent.contains("Bearer access-2"))
            #expect(await world.calls(1, first) == ["ok"])
        }
    }

    @Test("a refresh that fails for a moment fails no call of either process")
    func outage() async throws {
        try await SharedFile.run { world in
            let (first, second) = (world.process(failing: 1), world.process(failing: 1))
            try await first.signIn(world.record(1))
            #expect(await world.calls(5, first, second) == Array(repeating: "ok", count: 10))
            #expect(world.spent == ["refresh-1"])
        }
    }
}

/// A server, a file, and processes that share both, in virtual time. Token 1 is dead.
private struct SharedFile: Sendable {
    let clock: ManualClock
    private let file: SessionFile
    private let transport: ScriptedTransport
    private let log = SpentTokens()

    static func run(seed: UInt64 = 0, _ body: @escaping @Sendable (SharedFile) async throws -> Void) async throws {
        guard #available(macOS 15, *) else { return }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await Simulation(seed: seed).run { simulation in
            try await body(SharedFile(SessionFile(url: folder.appending(path: "session.json")), simulation.clock))
        }
    }

    private init(_ file: SessionFile, _ clock: ManualClock) {
        (self.file, self.clock) = (file, clock)
        transport = ScriptedTransport(clock: clock) { request, _ in
            let isDead = request.header[.authorization] == "Bearer access-1"
            return .delay(.milliseconds(10), then: isDead ? .status(401) : .reply(text: "ok"))
        }
    }

    func record(_ number: Int) -> SessionRecord {
        SessionRecord(session: UUID(), accessToken: "access-\(number)", refreshToken: "refresh-\(number)")
    }

    /// A process, the first refreshes of which fail.
    func process(failing failures: Int = 0) -> FileSession {
        let attempts = SpentTokens()
        return FileSession(file, clock: clock) { [clock, log] record in
            try await clock.sleep(for: .milliseconds(50))
            if attempts.add("attempt") <= failures { throw HttpError(.status(503), stage: .validate) }
            let number = log.add(record.refreshToken) + 2
            return SessionRecord(
                session: record.session,
                accessToken: "access-\(number)",
                refreshToken: "refresh-\(number)"
            )
        }
    }

    /// The refresh tokens that were spent, in order.
    var spent: [String] { log.all }

    /// The `Authorization` fields that the requests carried.
    var sent: [String] { transport.attempts.compactMap { $0.header[.authorization] } }

    /// Calls of each process, all at once: how they ended.
    func calls(_ count: Int, _ sessions: FileSession...) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for session in sessions {
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    retrierFactory: session.retrierFactory,
                    transport: transport,
                    clock: clock
                )
                for _ in 0..<count { group.addTask { await outcome(of: service) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func outcome(of service: AnyHttpService<HttpError>) async -> String {
        struct GetNote: Request {
            typealias Result = String
            var route: HttpRoute { ["notes", 7] }
        }
        do throws(HttpError) {
            return try await GetNote().schedule(with: service)
        } catch {
            return error.underlying.map { "\($0)" } ?? "\(error)"
        }
    }
}

private final class SpentTokens: @unchecked Sendable {
    // Unchecked: the lock guards it.
    private var tokens: [String] = []
    private let lock = NSLock()

    var all: [String] { lock.withLock { tokens } }

    /// Adds a token, and returns how many there are.
    func add(_ token: String) -> Int {
        lock.withLock {
            tokens.append(token)
            return tokens.count
        }
    }
}
