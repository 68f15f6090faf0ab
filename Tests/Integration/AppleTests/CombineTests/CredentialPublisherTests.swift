import Nautilus
import NautilusCombine
import NautilusTesting
import OpenCombine
import Testing

@Suite("A coordinator's credentials as a publisher", .timeLimit(.minutes(10)))
struct CredentialPublisherTests {
    private typealias Credentials = Recorder<RefreshCoordinator<String>.VersionedCredential?, Never>

    private let coordinator = RefreshCoordinator<String>(clock: ManualClock()) { $0 + "'" }

    @Test("the present credential first, then each that takes its place, to every subscriber")
    func all() async throws {
        let early = Credentials()
        coordinator.credentialPublisher.subscribe(early)
        await early.reaches(1)
        coordinator.signIn("a")
        await early.reaches(2)
        let late = Credentials()
        coordinator.credentialPublisher.subscribe(late)
        await late.reaches(1)
        _ = try await coordinator.refresh(rejecting: try #require(coordinator.current))
        await early.reaches(3)
        await late.reaches(2)
        coordinator.signOut()
        await early.reaches(4)
        await late.reaches(3)
        #expect(early.all.map { $0?.credential } == [nil, "a", "a'", nil])
        #expect(late.all.map { $0?.credential } == ["a", "a'", nil])
    }

    @Test("demand is honoured: the latest when it is asked for, and not those in between")
    func demand() async throws {
        let recorder = Credentials(asking: .none)
        coordinator.credentialPublisher.subscribe(recorder)
        coordinator.signIn("a")
        coordinator.signIn("b")
        recorder.ask(.max(1))
        await recorder.reaches(1)
        for name in ["c", "d", "e"] { coordinator.signIn(name) }
        // Whatever runs has the time to run too far.
        for _ in 0..<100 { await Task.yield() }
        #expect(recorder.all.map { $0?.credential } == ["b"])
        recorder.ask(.max(1))
        await recorder.reaches(2)
        #expect(recorder.all.map { $0?.credential } == ["b", "e"])
    }

    @Test("the demand that a subscriber returns with each value counts")
    func more() async throws {
        let recorder = Credentials(asking: .max(1), more: .max(1))
        coordinator.credentialPublisher.subscribe(recorder)
        for count in 1...20 {
            await recorder.reaches(count)
            coordinator.signIn("\(count)")
        }
        #expect(recorder.all.map { $0?.credential ?? "nobody" } == ["nobody"] + (1...19).map(String.init))
    }

    @Test("the credential publisher ends with its coordinator, and does not keep it alive")
    func end() async {
        let recorder = Credentials()
        weak var released: RefreshCoordinator<String>?
        do {
            let coordinator = RefreshCoordinator<String>(credential: "a", clock: ManualClock()) { $0 }
            released = coordinator
            coordinator.credentialPublisher.subscribe(recorder)
            await recorder.reaches(1)
        }
        await recorder.end()
        #expect(recorder.all.map { $0?.credential } == ["a"])
        #expect(released == nil)
    }

    @Test("after a cancellation nothing comes, and nothing is kept alive")
    func cancellation() async {
        final class Owner: Sendable {}
        weak var released: Owner?
        let heard = Recorder<Int, Never>()
        var subscription: AnyCancellable?
        do {
            let owner = Owner()
            released = owner
            subscription = coordinator.credentialPublisher.sink { [owner] _ in
                _ = owner
                _ = heard.receive(1)
            }
        }
        await heard.reaches(1)
        #expect(subscription != nil)
        subscription = nil
        coordinator.signIn("a")
        while released != nil, !Task.isCancelled { await Task.yield() }
        #expect(heard.all.count == 1)
    }
}
