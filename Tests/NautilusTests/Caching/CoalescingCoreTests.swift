import Testing

@testable import Nautilus

@Suite("Who leads and who follows")
struct CoalescingCoreTests {
    private typealias Core = CoalescingCore<String, Int, String>

    private static func text(_ verdicts: [(String, Core.Verdict)]) -> [String] {
        verdicts.map { waiter, verdict in
            switch verdict {
            case .share(let outcome): "\(waiter) shares \(outcome)"
            case .lead(let ticket): "\(waiter) leads as \(ticket)"
            case .goAlone: "\(waiter) goes alone"
            }
        }
    }

    private static func text(_ role: Core.Role) -> String {
        switch role {
        case .lead(let ticket): "leads as \(ticket)"
        case .follow: "follows"
        }
    }

    @Test("of one key one leads, and who joins after its end leads the next")
    func beginAndJoin() {
        var core = Core()
        #expect(Self.text(core.begin("a")) == "leads as 1")
        #expect(Self.text(core.begin("a")) == "follows")
        #expect(Self.text(core.begin("b")) == "leads as 2")
        let (early, late) = (core.takeTicket(), core.takeTicket())
        #expect(Self.text(core.join("a", "early", ticket: early)) == "follows")
        #expect(Self.text(core.end("a", leader: 1, sharing: 7)) == ["early shares 7"])
        // It was asked before the end, and joins behind it.
        #expect(Self.text(core.join("a", "late", ticket: late)) == "leads as \(late)")
        #expect(core.counts == (2, 0))
    }

    @Test("without an outcome to share the first who follows leads, and the others follow it")
    func successor() {
        var core = Core()
        _ = core.begin("a")
        for waiter in ["second", "third"] { _ = core.join("a", waiter, ticket: core.takeTicket()) }
        #expect(Self.text(core.end("a", leader: 1, sharing: nil)) == ["second leads as 2"])
        #expect(core.counts == (1, 1))
        #expect(Self.text(core.end("a", leader: 2, sharing: 5)) == ["third shares 5"])
        #expect(core.counts == (0, 0))
    }

    @Test("the end of a leader that has been deposed changes nothing")
    func deposed() {
        var core = Core()
        _ = core.begin("a")
        for waiter in ["second", "third"] { _ = core.join("a", waiter, ticket: core.takeTicket()) }
        _ = core.end("a", leader: 1, sharing: nil)
        #expect(Self.text(core.end("a", leader: 1, sharing: 9)).isEmpty)
        #expect(Self.text(core.disband("a", leader: 1)).isEmpty)
        #expect(core.counts == (1, 1))
        #expect(Self.text(core.disband("a", leader: 2)) == ["third goes alone"])
    }

    @Test("who has been cancelled is told nothing any more, and leads nobody")
    func cancelled() {
        var core = Core()
        _ = core.begin("a")
        let tickets = [core.takeTicket(), core.takeTicket()]
        for (waiter, ticket) in zip(["second", "third"], tickets) { _ = core.join("a", waiter, ticket: ticket) }
        #expect(core.cancel("a", ticket: tickets[0]) == "second")
        #expect(core.cancel("a", ticket: tickets[0]) == nil)
        #expect(Self.text(core.end("a", leader: 1, sharing: nil)) == ["third leads as 3"])
    }
}
