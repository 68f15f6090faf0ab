import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("RefreshCoordinator: streams that begin with the latest", .endsInTime)
struct RefreshStreamsTests {
    private let coordinator = RefreshCoordinator<String>(clock: TestClock()) { $0 + "'" }

    @Test("a late listener hears the latest event first, then what follows; one that wants no past hears only that")
    func events() async {
        coordinator.signIn("a")
        coordinator.signOut()
        coordinator.signIn("b")
        let late = coordinator.events(replayingLatest: true)
        let plain = coordinator.events(replayingLatest: false)
        let property = coordinator.events
        coordinator.signOut()
        #expect(await late.first(2) == ["signedIn 2", "signedOut 2"])
        #expect(await plain.first(1) == ["signedOut 2"])
        #expect(await property.first(1) == ["signedOut 2"])
    }

    @Test("a stream that replays the latest event begins empty if there was no event")
    func noEvent() async {
        let stream = coordinator.events(replayingLatest: true)
        coordinator.signIn("a")
        #expect(await stream.first(1) == ["signedIn 1"])
    }

    @Test("the stream of credentials begins with the present one, nil for nobody, and a slow reader gets the latest")
    func credentials() async throws {
        var early = coordinator.credentials.makeAsyncIterator()
        #expect(await Self.text(early.next()) == "nobody")
        coordinator.signIn("a")
        #expect(await Self.text(early.next()) == "a")
        let first = try #require(coordinator.current)
        coordinator.replace(first, with: "b")
        coordinator.signOut()
        coordinator.signIn("c")
        #expect(await Self.text(early.next()) == "c")
        var late = coordinator.credentials.makeAsyncIterator()
        #expect(await late.next()??.generation == coordinator.current?.generation)
        coordinator.signOut()
        #expect(await Self.text(late.next()) == "nobody")
        #expect(await Self.text(early.next()) == "nobody")
    }

    @Test("a refresh brings its credential, and one that fails brings none")
    func refreshes() async throws {
        struct Unreachable: Error {}
        let fails = Locked(false)
        let coordinator = RefreshCoordinator<String>(
            credential: "a",
            limits: .impatient,
            clock: TestClock()
        ) { credential in
            if fails.withLock({ $0 }) { throw Unreachable() }
            return credential + "'"
        }
        var credentials = coordinator.credentials.makeAsyncIterator()
        let first = try #require(await credentials.next() ?? nil)
        _ = try await coordinator.refresh(rejecting: first)
        let second = try #require(await credentials.next() ?? nil)
        #expect(second.credential == "a'")
        fails.withLock { $0 = true }
        await #expect(throws: RefreshError.self) { try await coordinator.refresh(rejecting: second) }
        coordinator.signOut()
        #expect(await Self.text(credentials.next()) == "nobody", "nothing came between")
    }

    /// A versioned credential as the tests write it; `end` for the end of a stream.
    private static func text(_ credential: RefreshCoordinator<String>.VersionedCredential??) -> String {
        switch credential {
        case nil: "end"
        case .some(nil): "nobody"
        case .some(let credential?): credential.credential
        }
    }

    @Test("the streams end with the coordinator")
    func end() async {
        var streams: (AsyncStream<RefreshEvent>, AsyncStream<RefreshCoordinator<String>.VersionedCredential?>)?
        do {
            let coordinator = RefreshCoordinator<String>(credential: "a", clock: TestClock()) { $0 }
            streams = (coordinator.events(replayingLatest: true), coordinator.credentials)
        }
        var (events, credentials) = (0, 0)
        if let streams {
            for await _ in streams.0 { events += 1 }
            for await _ in streams.1 { credentials += 1 }
        }
        #expect(events == 1)
        #expect(credentials == 1)
    }

    @Test("with many senders, a new stream never gets the past after the present")
    func order() async {
        let broadcast = Broadcast<Int>(bufferLimit: 1_000)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for number in 1...500 { broadcast.send(number) } }
            for _ in 0..<8 {
                group.addTask {
                    var seen: [Int] = []
                    for await number in broadcast.stream(replayingLatest: true) {
                        seen.append(number)
                        if number == 500 { break }
                    }
                    #expect(seen == Array((seen.first ?? 0)...500))
                }
            }
        }
    }
}
