import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("CoalescingTable: leaders and followers")
struct CoalescingTableTests {
    private typealias Table = CoalescingTable<String, String, NamedWaiter>

    private static func visit(_ key: String = "a", urgency: Int = 0, call: UInt64 = 0, in parent: UInt64? = nil)
        -> Table.Visit
    {
        Table.Visit(key: key, urgency: urgency, call: CallIdentity(id: call, parent: parent, requestType: Ping.self))
    }

    /// The verdicts as text, such as `anna: share 1`, in their order.
    private static func told(_ verdicts: [(NamedWaiter, Table.Verdict)]) -> [String] {
        verdicts.map { waiter, verdict in
            switch verdict {
            case .share(let outcome): "\(waiter.id): share \(outcome)"
            case .lead(let number): "\(waiter.id): lead \(number)"
            case .goAlone: "\(waiter.id): go alone"
            }
        }
    }

    /// A table in which one leads and these follow.
    private static func led(
        by leader: Table.Visit = visit(),
        followedBy followers: [(name: String, visit: Table.Visit)]
    ) -> Table {
        var table = Table()
        #expect(table.begin(leader) == .lead(1))
        for follower in followers { #expect(table.join(follower.visit, NamedWaiter(follower.name)) == .follow) }
        return table
    }

    @Test("the first to begin leads and the others follow, each key for itself; after the end the next one leads")
    func begin() {
        var table = Table()
        #expect(table.begin(Self.visit("a")) == .lead(1))
        #expect(table.begin(Self.visit("a")) == .follow)
        #expect(table.begin(Self.visit("b")) == .lead(2))
        #expect(table.counts == (2, 0))
        #expect(Self.told(table.end("a", leader: 1, sharing: "1")) == [])
        #expect(table.begin(Self.visit("a")) == .lead(3))
        #expect(table.begin(Self.visit("b")) == .follow)
    }

    @Test("joining means waiting while another leads, and leading when its exchange has ended since the first look")
    func join() {
        var table = Table()
        #expect(table.begin(Self.visit()) == .lead(1))
        #expect(table.begin(Self.visit()) == .follow)
        _ = table.end("a", leader: 1, sharing: "1")
        #expect(table.join(Self.visit(), NamedWaiter("anna")) == .lead(2))
        #expect(table.counts == (1, 0))
        #expect(table.join(Self.visit(), NamedWaiter("bert")) == .follow)
        #expect(table.counts == (1, 1))
        #expect(Self.told(table.end("a", leader: 2, sharing: "2")) == ["bert: share 2"])
        #expect(table.counts == (0, 0))
    }

    @Test("the end is told to all that wait for it, in the order in which they came, and to no other")
    func end() {
        var table = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(table.begin(Self.visit("b")) == .lead(2))
        #expect(table.join(Self.visit("b"), NamedWaiter("cora")) == .follow)
        #expect(Self.told(table.end("a", leader: 1, sharing: "1")) == ["anna: share 1", "bert: share 1"])
        #expect(Self.told(table.end("a", leader: 1, sharing: "again")) == [])
        #expect(table.counts == (1, 1))
    }

    @Test("a follower that has left is told nothing, and one that has been told has not left")
    func leave() {
        var table = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(table.leave("a", "anna") == NamedWaiter("anna"))
        #expect(table.leave("a", "anna") == nil)
        #expect(Self.told(table.end("a", leader: 1, sharing: "1")) == ["bert: share 1"])
        #expect(table.leave("a", "bert") == nil)
    }

    @Test("a leader that leaves is followed by the one that has waited for longest, and its late end is told to nobody")
    func deposedLeader() {
        var table = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(Self.told(table.leave("a", leader: 1)) == ["anna: lead 2"])
        // It does not lead any longer, however it ends.
        #expect(Self.told(table.end("a", leader: 1, sharing: "late")) == [])
        #expect(Self.told(table.leave("a", leader: 1)) == [])
        #expect(Self.told(table.disband("a", leader: 1)) == [])
        #expect(table.counts == (1, 1))
        #expect(table.begin(Self.visit()) == .follow)
        #expect(Self.told(table.end("a", leader: 2, sharing: "2")) == ["bert: share 2"])
        #expect(table.counts == (0, 0))
    }

    @Test("a leader without followers leaves nothing behind, however it ends")
    func alone() {
        for end in 0..<3 {
            var table = Self.led(by: Self.visit(call: 1), followedBy: [])
            switch end {
            case 0: #expect(Self.told(table.leave("a", leader: 1)) == [])
            case 1: #expect(Self.told(table.disband("a", leader: 1)) == [])
            default: #expect(Self.told(table.end("a", leader: 1, sharing: "1")) == [])
            }
            #expect(table.counts == (0, 0))
            #expect(table.begin(Self.visit(call: 2)) == .lead(2))
        }
    }

    @Test("an exchange that is one call's sends all off alone, and the next one leads while it goes on")
    func disband() {
        var table = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(Self.told(table.disband("a", leader: 1)) == ["anna: go alone", "bert: go alone"])
        #expect(table.begin(Self.visit()) == .lead(2))
        #expect(table.join(Self.visit(), NamedWaiter("cora")) == .follow)
        #expect(Self.told(table.end("a", leader: 1, sharing: "1")) == [])
        #expect(Self.told(table.end("a", leader: 2, sharing: "2")) == ["cora: share 2"])
    }

    // MARK: - Urgency

    @Test("C16: a call that is more urgent than the leading calls leads, too, and all get the first answer")
    func urgent() {
        var table = Self.led(followedBy: [("anna", Self.visit())])
        #expect(table.begin(Self.visit(urgency: 1)) == .lead(2))
        #expect(table.join(Self.visit(urgency: 1), NamedWaiter("bert")) == .follow)
        #expect(table.join(Self.visit(), NamedWaiter("cora")) == .follow)
        #expect(table.counts == (1, 3))
        #expect(
            Set(Self.told(table.end("a", leader: 1, sharing: "1"))) == [
                "anna: share 1", "bert: share 1", "cora: share 1",
            ]
        )
        // The other is still under way, and those that come now get its answer.
        #expect(table.join(Self.visit(urgency: 1), NamedWaiter("dora")) == .follow)
        #expect(Self.told(table.end("a", leader: 2, sharing: "2")) == ["dora: share 2"])
        #expect(table.counts == (0, 0))
    }

    @Test("C16: the most urgent takes the place of a leader that leaves; none does while one leads that is as urgent")
    func urgentSuccessor() {
        var table = Self.led(
            by: Self.visit(urgency: 2),
            followedBy: [
                ("anna", Self.visit()), ("bert", Self.visit(urgency: 2)), ("cora", Self.visit(urgency: 2)),
            ]
        )
        #expect(Self.told(table.leave("a", leader: 1)) == ["bert: lead 2"])
        #expect(table.begin(Self.visit(urgency: 3)) == .lead(3))
        #expect(Self.told(table.leave("a", leader: 2)) == [])
        #expect(Self.told(table.leave("a", leader: 3)) == ["cora: lead 4"])
        // It leads as urgently as it is: a more urgent one does not wait behind it.
        #expect(Self.told(table.leave("a", leader: 4)) == ["anna: lead 5"])
        #expect(table.begin(Self.visit(urgency: 1)) == .lead(6))
    }

    @Test("C16: a failure is told to those alone whom no other leader serves; the others wait for that one")
    func urgentFailure() {
        var table = Self.led(followedBy: [("anna", Self.visit())])
        #expect(table.begin(Self.visit(urgency: 1)) == .lead(2))
        #expect(table.join(Self.visit(urgency: 1), NamedWaiter("bert")) == .follow)
        #expect(Self.told(table.end("a", leader: 1, failing: "1", isOfType: false)) == [])
        #expect(table.begin(Self.visit(urgency: 2)) == .lead(3))
        #expect(table.join(Self.visit(urgency: 2), NamedWaiter("cora")) == .follow)
        #expect(Self.told(table.end("a", leader: 3, failing: "3", isOfType: false)) == ["cora: share 3"])
        #expect(
            Set(Self.told(table.end("a", leader: 2, failing: "2", isOfType: false))) == [
                "anna: share 2", "bert: share 2",
            ]
        )
        #expect(table.counts == (0, 0))
    }

    @Test("a failure of one type's reading is told to those of it, and the first of the others leads; any other to all")
    func failureOfType() {
        let other = Table.Visit(key: "a", call: CallIdentity(id: 0, parent: nil, requestType: Undecodable.self))
        for isOfType in [true, false] {
            var table = Self.led(followedBy: [("anna", other), ("bert", Self.visit()), ("cora", other)])
            let told = Self.told(table.end("a", leader: 1, failing: "no", isOfType: isOfType))
            let all = ["anna: share no", "bert: share no", "cora: share no"]
            #expect(told == (isOfType ? ["bert: share no", "anna: lead 2"] : all))
            #expect(table.counts == (isOfType ? (1, 1) : (0, 0)))
        }
    }

    @Test("a call within one that leads goes alone, whatever it asks for")
    func nested() {
        var table = Self.led(by: Self.visit(call: 7), followedBy: [("anna", Self.visit(call: 8))])
        for key in ["a", "b"] { #expect(table.begin(Self.visit(key, call: 9, in: 7)) == .goAlone) }
        #expect(table.join(Self.visit(call: 9, in: 7), NamedWaiter("bert")) == .goAlone)
        #expect(table.begin(Self.visit(call: 9, in: 8)) == .follow)
        _ = table.end("a", leader: 1, sharing: "1")
        #expect(table.begin(Self.visit("b", call: 9, in: 7)) == .lead(2))
    }

    // MARK: - Changes

    @Test("a call made after a change does not get the response of an exchange from before it")
    func change() {
        var table = Self.led(followedBy: [("anna", Self.visit())])
        table.noteChange()
        #expect(table.begin(Self.visit()) == .lead(2))
        #expect(table.join(Self.visit(), NamedWaiter("bert")) == .follow)
        #expect(table.counts == (2, 2))
        #expect(Self.told(table.end("a", leader: 1, sharing: "old")) == ["anna: share old"])
        #expect(table.leave("a", "bert") == NamedWaiter("bert"))
        #expect(Self.told(table.end("a", leader: 2, sharing: "new")) == [])
        #expect(table.counts == (0, 0))
    }

    @Test("a leader that leaves is not followed by another while one leads that is urgent enough for all that wait")
    func urgentLeaves() {
        var table = Self.led(followedBy: [("anna", Self.visit())])
        #expect(table.begin(Self.visit(urgency: 1)) == .lead(2))
        #expect(Self.told(table.leave("a", leader: 2)) == [])
        #expect(table.begin(Self.visit(urgency: 1)) == .lead(3))
        #expect(table.join(Self.visit(urgency: 1), NamedWaiter("bert")) == .follow)
        #expect(Self.told(table.leave("a", leader: 3)) == ["bert: lead 4"])
        #expect(Set(Self.told(table.end("a", leader: 1, sharing: "1"))) == ["anna: share 1"])
    }
}
