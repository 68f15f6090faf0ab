import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("PaceMachine: the pure transitions")
struct PaceMachineTests {
    typealias Machine = PaceMachine<NamedWaiter>

    static let rules = PaceRules(maxWaiting: 3, maxWait: .seconds(60), interval: .milliseconds(100))

    /// A machine in which one request was answered at 0 s by what a test says.
    static func machine(
        _ limits: RateLimit...,
        retryAfter: Duration? = nil,
        rules: PaceRules = rules
    ) -> Machine {
        var machine = Machine(rules: rules)
        let number = machine.immediateNumber() ?? 0
        _ = machine.answered(number, limits: limits, retryAfter: retryAfter, at: .zero)
        return machine
    }

    static func limit(
        _ remaining: Int,
        _ reset: Duration?,
        policy: String = "a",
        partition: String? = nil,
        quota: Int? = nil,
        window: Duration? = nil
    ) -> RateLimit {
        RateLimit(
            policy: policy,
            partition: partition,
            remaining: remaining,
            reset: reset,
            quota: quota,
            window: window
        )
    }

    static func ask(_ machine: inout Machine, at now: Duration, remaining: Duration? = nil) -> String {
        switch machine.ask(PaceAsker(remaining: remaining, isUrgent: false), at: now) {
        case .go: "go"
        case .wait: "wait"
        case .refuse(let refusal): "\(refusal)"
        }
    }

    static func wait(_ machine: inout Machine, _ name: String, at now: Duration, draw: Double = 0) {
        machine.wait(
            .init(waiter: NamedWaiter(name), start: now, asker: .init(remaining: nil, isUrgent: false)),
            draw: draw
        )
    }

    static let ns = Duration.nanoseconds(1)

    @Test(
        "nothing goes before the server's time, and at that time it does, to the nanosecond",
        arguments: [(Duration.seconds(5) - ns, "wait"), (.seconds(5), "go"), (.seconds(5) + ns, "go")]
    )
    func end(now: Duration, expected: String) {
        var (paused, usedUp) = (Self.machine(retryAfter: .seconds(5)), Self.machine(Self.limit(0, .seconds(5))))
        #expect(Self.ask(&paused, at: now) == expected)
        #expect(Self.ask(&usedUp, at: now) == expected)
    }

    @Test("requests within the limit go at once, and the next one waits for the reset")
    func remaining() {
        var machine = Self.machine(Self.limit(2, .seconds(5)))
        let answers = (0..<3).map { _ in Self.ask(&machine, at: .seconds(1)) }
        #expect(answers == ["go", "go", "wait"])
        #expect(Self.ask(&machine, at: .seconds(5)) == "go")
    }

    @Test("a limit that says neither when it ends nor how long its window is holds nobody")
    func endless() {
        var (endless, windowed) = (
            Self.machine(Self.limit(0, nil)), Self.machine(Self.limit(0, nil, window: .seconds(3)))
        )
        #expect(Self.ask(&endless, at: .zero) == "go")
        #expect(Self.ask(&windowed, at: .seconds(3) - Self.ns) == "wait")
        #expect(Self.ask(&windowed, at: .seconds(3)) == "go")
        var empty = Self.machine(Self.limit(0, .seconds(1), quota: 0, window: .seconds(1)))
        #expect(Self.ask(&empty, at: .seconds(1)) == "go", "a quota of nothing is no quota")
    }

    @Test("Retry-After takes precedence over the reset of a limit that is used up, and a longer pause stays")
    func precedence() {
        var machine = Self.machine(
            Self.limit(0, .seconds(50)),
            Self.limit(7, .seconds(40), policy: "b"),
            retryAfter: .seconds(20)
        )
        #expect(Self.ask(&machine, at: .seconds(20) - Self.ns) == "wait")
        #expect(Self.ask(&machine, at: .seconds(20)) == "go")
        var longer = Self.machine()
        let numbers = (0..<2).compactMap { _ in longer.immediateNumber() }
        _ = longer.answered(numbers[0], limits: [], retryAfter: .seconds(9), at: .zero)
        _ = longer.answered(numbers[1], limits: [], retryAfter: .seconds(2), at: .zero)
        #expect(Self.ask(&longer, at: .seconds(9) - Self.ns) == "wait")
        #expect(Self.ask(&longer, at: .seconds(9)) == "go")
    }

    @Test(
        "a wait that would reach the deadline, or is longer than anybody waits, is refused at once",
        arguments: [
            (Duration.seconds(5), Duration?.none, "wait"), (.seconds(60), nil, "wait"),
            (.seconds(60) + ns, nil, "it would wait for 60 s, and waits for 60 s at most"),
            (.seconds(90), nil, "it would wait for 90 s, and waits for 60 s at most"),
            (.seconds(5), .seconds(5) + ns, "wait"),
            (.seconds(5), .seconds(5), "it would wait for 5 s, with 5 s left until the deadline"),
            (.seconds(5), .seconds(2), "it would wait for 5 s, with 2 s left until the deadline"),
        ]
    )
    func tooLong(pause: Duration, remaining: Duration?, expected: String) {
        var machine = Self.machine(retryAfter: pause)
        #expect(Self.ask(&machine, at: .zero, remaining: remaining) == expected)
    }

    @Test("a wait includes the slots of the requests before it, and the number of waiting requests is limited")
    func queue() {
        var machine = Self.machine(retryAfter: .seconds(5))
        for name in 1...2 { Self.wait(&machine, "\(name)", at: .zero) }
        let slots = Duration.milliseconds(5_200)
        #expect(Self.ask(&machine, at: .zero, remaining: slots + Self.ns) == "wait")
        #expect(Self.ask(&machine, at: .zero, remaining: slots).hasPrefix("it would wait for 5.200 s"))
        Self.wait(&machine, "3", at: .zero)
        #expect(Self.ask(&machine, at: .zero) == "3 requests wait already")
    }

    @Test("while the queue moves, a wait counts from the next slot, and for a request that goes to the front from now")
    func movingQueue() {
        var machine = Self.machine(retryAfter: .seconds(5))
        for name in 1...2 { Self.wait(&machine, "\(name)", at: .zero) }
        let first = machine.release(at: .seconds(5), draw: 0)?.waiter.id
        #expect(first == "1")
        // The next slot begins at 5.1 s, and is the other's.
        let wait = Duration.milliseconds(200)
        #expect(Self.ask(&machine, at: .seconds(5), remaining: wait + Self.ns) == "wait")
        #expect(
            Self.ask(&machine, at: .seconds(5), remaining: wait)
                == "it would wait for 200 ms, with 200 ms left until the deadline"
        )
        var paused = machine
        let pause = Duration.milliseconds(50)
        _ = paused.answered(2, limits: [], retryAfter: pause, at: .seconds(5))
        let askers = [pause, pause + Self.ns].map { PaceAsker(remaining: $0, isUrgent: true) }
        let answers = askers.map { paused.ask($0, at: .seconds(5)) }
        #expect(answers == [.refuse(.waitPastDeadline(pause, remaining: pause)), .wait])
        #expect(machine.ask(PaceAsker(remaining: Self.ns, isUrgent: true), at: .seconds(5)) == .go(number: 3))
    }

    @Test("a limit that is used up only if all under way count refuses nobody: their answers may say otherwise")
    func perhaps() {
        var machine = Self.machine()
        let numbers = (0..<2).compactMap { _ in machine.immediateNumber() }
        _ = machine.answered(numbers[0], limits: [Self.limit(1, .seconds(3_600))], retryAfter: nil, at: .zero)
        #expect(Self.ask(&machine, at: .zero, remaining: .seconds(2)) == "wait")
        machine.ended(numbers[1], isSent: true)
        #expect(Self.ask(&machine, at: .zero, remaining: .seconds(2)).hasPrefix("it would wait for 3600 s"))
    }

    @Test("waiting requests go in order, each at the drawn moment of its slot")
    func slots() {
        var machine = Self.machine(retryAfter: .seconds(5))
        Self.wait(&machine, "a", at: .zero, draw: 0.25)
        for name in ["b", "c"] { Self.wait(&machine, name, at: .zero, draw: 1) }
        var released: [String] = []
        for (due, draw) in [(5_025, 1.0), (5_200, 0.0), (5_200, 0.5)] {
            let due = Duration.milliseconds(due)
            let early = machine.release(at: due - Self.ns, draw: 0)?.waiter
            #expect(early == nil)
            let next = machine.nextRelease(at: due - Self.ns)
            #expect(next == due)
            if let waiter = machine.release(at: due, draw: draw)?.waiter { released.append(waiter.id) }
        }
        #expect(released == ["a", "b", "c"])
        let next = machine.nextRelease(at: .seconds(6))
        #expect(next == nil)
    }

    @Test("after a long sleep of the machine, missed slots are not made up for: one goes, and the others are spread")
    func slept() {
        var machine = Self.machine(retryAfter: .seconds(5))
        for name in 1...3 { Self.wait(&machine, "\(name)", at: .zero) }
        let first = machine.release(at: .seconds(500), draw: 0.5)?.waiter.id
        let second = machine.release(at: .seconds(500), draw: 0.5)?.waiter.id
        #expect((first, second) == ("1", nil))
        let next = machine.nextRelease(at: .seconds(500))
        #expect(next == .seconds(500) + .milliseconds(50))
    }

    @Test("an answer that knows of more releases at once who waited for it; one that orders more holds them back")
    func changes() {
        var machine = Self.machine()
        let numbers = (0..<2).compactMap { _ in machine.immediateNumber() }
        _ = machine.answered(numbers[0], limits: [Self.limit(1, .seconds(50))], retryAfter: nil, at: .zero)
        Self.wait(&machine, "a", at: .zero, draw: 0.5)
        let before = machine.nextRelease(at: .seconds(1))
        #expect(before == .milliseconds(50_050))
        var relaxed = machine
        _ = relaxed.answered(numbers[1], limits: [Self.limit(1, .seconds(50))], retryAfter: nil, at: .seconds(1))
        let after = relaxed.nextRelease(at: .seconds(1))
        #expect(after == .milliseconds(1_050))
        _ = machine.answered(numbers[1], limits: [], retryAfter: .seconds(55), at: .seconds(1))
        let held = machine.nextRelease(at: .seconds(1))
        #expect(held == .milliseconds(56_050))
    }

    @Test("a request that a new limit makes wait too long fails at once, the others stay")
    func turnedAway() {
        var machine = Self.machine(retryAfter: .seconds(5))
        let entrants: [(String, Duration?)] = [
            ("hurried", .seconds(6)), ("patient", nil), ("just in time", .seconds(31)),
        ]
        for (name, remaining) in entrants {
            let asker = PaceAsker(remaining: remaining, isUrgent: false)
            machine.wait(.init(waiter: NamedWaiter(name), start: .zero, asker: asker), draw: 0)
        }
        let second = machine.answered(0, limits: [], retryAfter: .seconds(30), at: .zero)
        #expect(second.map(\.waiter.id) == ["hurried"])
        #expect(second.map(\.refusal) == [.waitPastDeadline(.seconds(30), remaining: .seconds(6))])
        let third = machine.answered(0, limits: [], retryAfter: .seconds(61), at: .zero)
        #expect(third.map(\.waiter.id) == ["patient", "just in time"])
        #expect(machine.waiting == 0)
    }

    @Test("a minute after the limit was last reported, one request is sent in spite of it")
    func lastWord() {
        let day = Duration.seconds(86_400)
        for isPause in [true, false] {
            var machine = Self.machine()
            let numbers = (0..<2).compactMap { _ in machine.immediateNumber() }
            let limits = isPause ? [] : [Self.limit(0, day)]
            _ = machine.answered(numbers[0], limits: limits, retryAfter: isPause ? day : nil, at: .seconds(30))
            _ = machine.answered(numbers[1], limits: [], retryAfter: nil, at: .seconds(50))
            #expect(Self.ask(&machine, at: .seconds(90) - Self.ns).hasPrefix("it would wait for "))
            #expect(Self.ask(&machine, at: .seconds(90)) == "go")
            #expect(Self.ask(&machine, at: .seconds(90)).hasPrefix("it would wait for "))
        }
    }

    @Test("only an answer to the request sent in spite of the limit replaces it; until then no other is sent")
    func probe() {
        let day = Duration.seconds(86_400)
        var machine = Self.machine()
        let numbers = (0..<2).compactMap { _ in machine.immediateNumber() }
        _ = machine.answered(numbers[0], limits: [], retryAfter: day, at: .zero)
        let probe = machine.ask(PaceAsker(remaining: nil, isUrgent: false), at: .seconds(60))
        #expect(probe == .go(number: 4))
        func isRefused(_ machine: inout Machine, at seconds: Int) -> Bool {
            Self.ask(&machine, at: .seconds(seconds)).hasPrefix("it would wait for ")
        }

        var (answered, lost, unsent, other) = (machine, machine, machine, machine)
        _ = answered.answered(4, limits: [], retryAfter: .seconds(5), at: .seconds(61))
        #expect(Self.ask(&answered, at: .seconds(66) - Self.ns) == "wait")
        #expect(Self.ask(&answered, at: .seconds(66)) == "go")
        lost.ended(4, isSent: true)
        #expect((isRefused(&lost, at: 119), isRefused(&lost, at: 120)) == (true, false))
        unsent.ended(4, isSent: false)
        #expect(!isRefused(&unsent, at: 62))
        other.ended(numbers[1], isSent: false)
        #expect(isRefused(&other, at: 62))
    }

    @Test("while nothing blocks, a queue is woken for its releases alone, however slow they are")
    func slowTurns() {
        let rules = PaceRules(maxWaiting: 3, maxWait: .seconds(1), interval: .seconds(10))
        var machine = Self.machine(retryAfter: .seconds(1), rules: rules)
        Self.wait(&machine, "a", at: .zero, draw: 1)
        let alarms = [0, 1, 5].map { machine.nextAlarm(at: .seconds($0)) }
        // In the pause the end of the longest wait, and a second; after it the end of the slot.
        #expect(alarms == [.seconds(2), .seconds(11), .seconds(11)])
    }

    @Test("a partition may be forgotten when nobody waits, nothing is under way and all that is known is past")
    func worth() {
        var machine = Self.machine(Self.limit(0, .seconds(5)), retryAfter: .seconds(3))
        #expect(machine.worth(at: .seconds(1)) == .some(2))
        #expect(machine.worth(at: .seconds(3) - Self.ns) > .nothing)
        #expect(machine.worth(at: .seconds(3)) == .nothing, "Retry-After takes precedence")
        let number = machine.immediateNumber()
        #expect(number == nil)
        #expect(Self.ask(&machine, at: .seconds(9)) == "go")
        #expect(machine.worth(at: .seconds(9)) == .indispensable)
    }

    @Test("rules that make no sense are cut to ones that do")
    func rulesAreCut() {
        let silly = PaceRules(maxWaiting: -1, maxWait: .seconds(-1), interval: .seconds(-1))
        #expect(silly == PaceRules(maxWaiting: 0, maxWait: .zero, interval: .zero))
        let endless = PaceRules(maxWaiting: 1, maxWait: .seconds(Int64.max), interval: .seconds(Int64.max))
        #expect((endless.maxWait < .seconds(Int64.max), endless.interval) == (true, .seconds(3_600)))
    }
}
