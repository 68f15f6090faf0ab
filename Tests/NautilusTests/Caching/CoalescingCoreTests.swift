import Testing

@testable import Nautilus
@testable import NautilusCaching

@Suite("CoalescingCore: who leads, who follows, and what each is told")
struct CoalescingCoreTests {
    private typealias Core = CoalescingCore<String, String, NamedWaiter>

    private static func visit(_ key: String = "a", urgency: Int = 0, call: UInt64 = 0, in parent: UInt64? = nil)
        -> Core.Visit
    {
        Core.Visit(key: key, urgency: urgency, call: CallIdentity(id: call, parent: parent, requestType: Ping.self))
    }

    /// The verdicts as text, such as `anna: share 1`, in their order.
    private static func told(_ verdicts: [(NamedWaiter, Core.Verdict)]) -> [String] {
        verdicts.map { waiter, verdict in
            switch verdict {
            case .share(let outcome): "\(waiter.id): share \(outcome)"
            case .shareWhileAway(let outcome, let call): "\(waiter.id): share \(outcome), or wait for \(call)"
            case .lead(let number): "\(waiter.id): lead \(number)"
            case .goAlone: "\(waiter.id): go alone"
            }
        }
    }

    /// A core in which one leads and these follow.
    private static func led(
        by leader: Core.Visit = visit(),
        followedBy followers: [(name: String, visit: Core.Visit)]
    ) -> Core {
        var core = Core()
        #expect(core.begin(leader) == .lead(1))
        for follower in followers { #expect(core.join(follower.visit, NamedWaiter(follower.name)) == .follow) }
        return core
    }

    @Test("the first to begin leads and the others follow, each key for itself; after the end the next one leads")
    func begin() {
        var core = Core()
        #expect(core.begin(Self.visit("a")) == .lead(1))
        #expect(core.begin(Self.visit("a")) == .follow)
        #expect(core.begin(Self.visit("b")) == .lead(2))
        #expect(core.counts == (2, 0))
        #expect(Self.told(core.end("a", leader: 1, sharing: "1")) == [])
        #expect(core.begin(Self.visit("a")) == .lead(3))
        #expect(core.begin(Self.visit("b")) == .follow)
    }

    @Test("joining means waiting while another leads, and leading when its exchange has ended since the first look")
    func join() {
        var core = Core()
        #expect(core.begin(Self.visit()) == .lead(1))
        #expect(core.begin(Self.visit()) == .follow)
        _ = core.end("a", leader: 1, sharing: "1")
        #expect(core.join(Self.visit(), NamedWaiter("anna")) == .lead(2))
        #expect(core.counts == (1, 0))
        #expect(core.join(Self.visit(), NamedWaiter("bert")) == .follow)
        #expect(core.counts == (1, 1))
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["bert: share 2"])
        #expect(core.counts == (0, 0))
    }

    @Test("the end is told to all that wait for it, in the order in which they came, and to no other")
    func end() {
        var core = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(core.begin(Self.visit("b")) == .lead(2))
        #expect(core.join(Self.visit("b"), NamedWaiter("cora")) == .follow)
        #expect(Self.told(core.end("a", leader: 1, sharing: "1")) == ["anna: share 1", "bert: share 1"])
        #expect(Self.told(core.end("a", leader: 1, sharing: "again")) == [])
        #expect(core.counts == (1, 1))
    }

    @Test("a follower that has left is told nothing, and one that has been told has not left")
    func leave() {
        var core = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(core.leave("a", "anna") == NamedWaiter("anna"))
        #expect(core.leave("a", "anna") == nil)
        #expect(Self.told(core.end("a", leader: 1, sharing: "1")) == ["bert: share 1"])
        #expect(core.leave("a", "bert") == nil)
    }

    @Test("a leader that leaves is followed by the one that has waited for longest, and its late end is told to nobody")
    func deposedLeader() {
        var core = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(Self.told(core.leave("a", leader: 1)) == ["anna: lead 2"])
        // It does not lead any longer, however it ends.
        #expect(Self.told(core.end("a", leader: 1, sharing: "late")) == [])
        #expect(Self.told(core.leave("a", leader: 1)) == [])
        #expect(Self.told(core.disband("a", leader: 1)) == [])
        core.leaveForReturn("a", leader: 1)
        #expect(core.counts == (1, 1))
        #expect(core.begin(Self.visit()) == .follow)
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["bert: share 2"])
        #expect(core.counts == (0, 0))
    }

    @Test("a leader without followers leaves nothing behind, however it ends")
    func alone() {
        for end in 0..<4 {
            var core = Self.led(by: Self.visit(call: 1), followedBy: [])
            switch end {
            case 0: #expect(Self.told(core.leave("a", leader: 1)) == [])
            case 1: #expect(Self.told(core.disband("a", leader: 1)) == [])
            case 2: core.leaveForReturn("a", leader: 1)
            default: #expect(Self.told(core.end("a", leader: 1, sharing: "1")) == [])
            }
            #expect(core.counts == (0, 0))
            #expect(core.begin(Self.visit(call: 2)) == .lead(2))
        }
    }

    @Test("an exchange that is one call's sends all off alone, and the next one leads while it goes on")
    func disband() {
        var core = Self.led(followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        #expect(Self.told(core.disband("a", leader: 1)) == ["anna: go alone", "bert: go alone"])
        #expect(core.begin(Self.visit()) == .lead(2))
        #expect(core.join(Self.visit(), NamedWaiter("cora")) == .follow)
        #expect(Self.told(core.end("a", leader: 1, sharing: "1")) == [])
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["cora: share 2"])
    }

    // MARK: - Urgency

    @Test("C16: one that is more urgent than those that lead leads, too, and the first answer is everybody's")
    func urgent() {
        var core = Self.led(followedBy: [("anna", Self.visit())])
        #expect(core.begin(Self.visit(urgency: 1)) == .lead(2))
        #expect(core.join(Self.visit(urgency: 1), NamedWaiter("bert")) == .follow)
        #expect(core.join(Self.visit(), NamedWaiter("cora")) == .follow)
        #expect(core.counts == (1, 3))
        #expect(
            Set(Self.told(core.end("a", leader: 1, sharing: "1"))) == [
                "anna: share 1", "bert: share 1", "cora: share 1",
            ]
        )
        // The other is still under way, and those that come now get its answer.
        #expect(core.join(Self.visit(urgency: 1), NamedWaiter("dora")) == .follow)
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["dora: share 2"])
        #expect(core.counts == (0, 0))
    }

    @Test("C16: the most urgent takes the place of a leader that leaves; none does while one leads that is as urgent")
    func urgentSuccessor() {
        var core = Self.led(
            by: Self.visit(urgency: 2),
            followedBy: [
                ("anna", Self.visit()), ("bert", Self.visit(urgency: 2)), ("cora", Self.visit(urgency: 2)),
            ]
        )
        #expect(Self.told(core.leave("a", leader: 1)) == ["bert: lead 2"])
        #expect(core.begin(Self.visit(urgency: 3)) == .lead(3))
        #expect(Self.told(core.leave("a", leader: 2)) == [])
        #expect(Self.told(core.leave("a", leader: 3)) == ["cora: lead 4"])
        // It leads as urgently as it is: a more urgent one does not wait behind it.
        #expect(Self.told(core.leave("a", leader: 4)) == ["anna: lead 5"])
        #expect(core.begin(Self.visit(urgency: 1)) == .lead(6))
    }

    // MARK: - Refused credentials

    @Test("C11: whoever waits for a leader whose credential was refused is led by its call when that comes again")
    func comesAgain() {
        var core = Self.led(by: Self.visit(call: 7), followedBy: [("anna", Self.visit(call: 8))])
        core.leaveForReturn("a", leader: 1)
        #expect(core.counts == (1, 1))
        #expect(core.begin(Self.visit(call: 9)) == .follow)
        #expect(core.join(Self.visit(call: 9), NamedWaiter("bert")) == .follow)
        #expect(core.begin(Self.visit(call: 7)) == .lead(2))
        // Its end tells nothing to those that it leads.
        #expect(Self.told(core.endCall("a", 8)) == [])
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["anna: share 2", "bert: share 2"])
        #expect(Self.told(core.endCall("a", 7)) == [])
        #expect(core.counts == (0, 0))
    }

    @Test("C11: all go alone when that call ends instead, and at once; not if another has begun to lead them")
    func callEnds() {
        var core = Self.led(by: Self.visit(call: 7), followedBy: [("anna", Self.visit()), ("bert", Self.visit())])
        core.leaveForReturn("a", leader: 1)
        #expect(Self.told(core.endCall("a", 8)) == [])
        #expect(Self.told(core.endCall("a", 7)) == ["anna: go alone", "bert: go alone"])
        #expect(core.counts == (0, 0))

        core = Self.led(by: Self.visit(call: 7), followedBy: [("anna", Self.visit())])
        core.leaveForReturn("a", leader: 1)
        #expect(core.begin(Self.visit(urgency: 1, call: 9)) == .lead(2))
        #expect(Self.told(core.endCall("a", 7)) == [])
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["anna: share 2"])
    }

    @Test("a call within one that leads, or is waited for in its absence, goes alone, whatever it asks for")
    func nested() {
        var core = Self.led(by: Self.visit(call: 7), followedBy: [("anna", Self.visit(call: 8))])
        for key in ["a", "b"] { #expect(core.begin(Self.visit(key, call: 9, in: 7)) == .goAlone) }
        #expect(core.join(Self.visit(call: 9, in: 7), NamedWaiter("bert")) == .goAlone)
        #expect(core.begin(Self.visit(call: 9, in: 8)) == .follow)
        core.leaveForReturn("a", leader: 1)
        #expect(core.begin(Self.visit("b", call: 9, in: 7)) == .goAlone)
        _ = core.endCall("a", 7)
        #expect(core.begin(Self.visit("b", call: 9, in: 7)) == .lead(2))
    }

    // MARK: - Changes, and calls that come again

    @Test("what is asked after a change is not answered by an exchange from before it")
    func change() {
        var core = Self.led(followedBy: [("anna", Self.visit())])
        core.noteChange()
        #expect(core.begin(Self.visit()) == .lead(2))
        #expect(core.join(Self.visit(), NamedWaiter("bert")) == .follow)
        #expect(core.counts == (2, 2))
        #expect(Self.told(core.end("a", leader: 1, sharing: "old")) == ["anna: share old"])
        #expect(core.leave("a", "bert") == NamedWaiter("bert"))
        #expect(Self.told(core.end("a", leader: 2, sharing: "new")) == [])
        #expect(core.counts == (0, 0))
    }

    @Test("a call that comes again after a change is still waited for by those that have waited for it")
    func returnAfterChange() {
        var core = Self.led(by: Self.visit(call: 1), followedBy: [("anna", Self.visit(call: 2))])
        core.leaveForReturn("a", leader: 1)
        core.noteChange()
        #expect(core.begin(Self.visit(call: 1)) == .lead(2))
        #expect(core.counts == (1, 1))
        #expect(Self.told(core.end("a", leader: 2, sharing: "new")) == ["anna: share new"])
        #expect(core.counts == (0, 0))
    }

    @Test("so it is where another call leads since the change: all of them wait for that one")
    func returnBehindAnother() {
        var core = Self.led(by: Self.visit(call: 1), followedBy: [("anna", Self.visit(call: 2))])
        core.leaveForReturn("a", leader: 1)
        core.noteChange()
        #expect(core.begin(Self.visit(call: 3)) == .lead(2))
        #expect(core.join(Self.visit(call: 1), NamedWaiter("first")) == .follow)
        #expect(core.counts == (1, 2))
        #expect(core.leave("a", "anna") == NamedWaiter("anna"))
        #expect(Self.told(core.end("a", leader: 2, sharing: "new")) == ["first: share new"])
        #expect(core.counts == (0, 0))
    }

    @Test("an answer that its own call cannot take is everybody's, and those that cannot either wait for the call")
    func endForReturn() {
        var core = Self.led(by: Self.visit(call: 1), followedBy: [("anna", Self.visit(call: 2))])
        #expect(Self.told(core.endForReturn("a", leader: 1, sharing: "1")) == ["anna: share 1, or wait for 1"])
        // It is waited for though the line is still empty.
        #expect(core.join(Self.visit(call: 2), NamedWaiter("anna"), awaiting: 1) == .follow)
        #expect(core.begin(Self.visit(call: 1)) == .lead(2))
        #expect(Self.told(core.end("a", leader: 2, sharing: "2")) == ["anna: share 2"])
        #expect(core.counts == (0, 0))
    }

    @Test("a call that ends instead of coming again leaves nothing behind, and those that would wait for it go alone")
    func endWithoutReturn() {
        var core = Self.led(by: Self.visit(call: 1), followedBy: [("anna", Self.visit(call: 2))])
        #expect(Self.told(core.endForReturn("a", leader: 1, sharing: "1")) == ["anna: share 1, or wait for 1"])
        #expect(Self.told(core.endCall("a", 1)) == [])
        #expect(core.counts == (0, 0))
        #expect(core.join(Self.visit(call: 2), NamedWaiter("anna"), awaiting: 1) == .goAlone)
        #expect(core.counts == (0, 0))
    }

    @Test("a leader that leaves is not followed by another while one leads that is urgent enough for all that wait")
    func urgentLeaves() {
        var core = Self.led(followedBy: [("anna", Self.visit())])
        #expect(core.begin(Self.visit(urgency: 1)) == .lead(2))
        #expect(Self.told(core.leave("a", leader: 2)) == [])
        #expect(core.begin(Self.visit(urgency: 1)) == .lead(3))
        #expect(core.join(Self.visit(urgency: 1), NamedWaiter("bert")) == .follow)
        #expect(Self.told(core.leave("a", leader: 3)) == ["bert: lead 4"])
        #expect(Set(Self.told(core.end("a", leader: 1, sharing: "1"))) == ["anna: share 1"])
    }
}
