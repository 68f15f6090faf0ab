import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshMachine: the pure transitions")
struct RefreshMachineTests {
    typealias Machine = RefreshMachine

    /// The states, each reached by the shortest way; generation 1 lives for 100 s, so its leeway begins at 90 s.
    enum Start: String, CaseIterable {
        case signedOut, expired, idle, refreshing, background, coolingDown, overdue
    }

    static let flight = RefreshFlight(id: 1, generation: 1, failures: 0, previousCoolDown: .zero)

    static func machine(_ start: Start) -> (machine: Machine, now: Duration) {
        var machine = Machine(limits: RefreshLimits())
        func run(_ input: Machine.Input, _ now: Duration) { _ = machine.handle(input, at: now) }
        guard start != .signedOut else { return (machine, .seconds(3)) }
        run(.signIn(CredentialBox("a"), lifetime: .seconds(100)), .zero)
        switch start {
        case .signedOut, .idle:
            return (machine, .seconds(3))
        case .background:
            run(.ask(.init()), .seconds(90))
            return (machine, .seconds(91))
        case .expired, .refreshing, .coolingDown, .overdue:
            run(.ask(.init(rejected: 1)), .seconds(1))
        }
        switch start {
        case .expired: run(.refreshFailed(flight, .terminal(RefreshError.Terminal("over"))), .seconds(2))
        case .coolingDown:
            run(.refreshFailed(flight, .transient(Unreachable(), coolDown: .seconds(10))), .seconds(2))
        case .overdue:
            run(.timeLimitReached(flight, coolDown: .seconds(10)), .seconds(31))
            return (machine, .seconds(32))
        default: break
        }
        return (machine, .seconds(3))
    }

    static let inputs: [(name: String, input: Machine.Input)] = [
        ("ask", .ask(.init())),
        ("reject present", .ask(.init(rejected: 1))),
        ("continue older session", .ask(.init(rejected: nil, session: CallSession()))),
        ("sign in", .signIn(CredentialBox("b"), lifetime: nil)),
        ("sign out", .signOut),
        ("replace present", .replace(generation: 1, CredentialBox("c"), lifetime: nil)),
        ("replace other", .replace(generation: 0, CredentialBox("c"), lifetime: nil)),
        ("success", .refreshSucceeded(flight, CredentialBox("d"), lifetime: nil)),
        ("failure", .refreshFailed(flight, .transient(Unreachable(), coolDown: .seconds(10)))),
        ("terminal", .refreshFailed(flight, .terminal(RefreshError.Terminal("over")))),
        ("time limit", .timeLimitReached(flight, coolDown: .seconds(10))),
        ("cool-down ended", .coolDownEnded),
    ]

    @Test("every state answers every input as the table says", arguments: Start.allCases)
    func everyTransition(start: Start) {
        for (row, (name, input)) in Self.inputs.enumerated() {
            var (machine, now) = Self.machine(start)
            let actions = machine.handle(input, at: now).map(Self.summary).joined(separator: ", ")
            let found = "\(name): \(actions.isEmpty ? "nothing" : actions) → \(Self.summary(machine.state))"
            #expect(found == Self.table[start]?[row])
        }
    }

    @Test(
        "invariant 9: the leeway is a tenth of the lifetime, at most 60 s",
        arguments: [
            (Duration.seconds(3600), Duration.seconds(60)), (.seconds(600), .seconds(60)),
            (.seconds(599), .milliseconds(59_900)), (.seconds(100), .seconds(10)), (.nanoseconds(10), .nanoseconds(1)),
            (.zero, .zero), (.seconds(-1), .zero), (.seconds(Int64.max), .seconds(60)),
        ]
    )
    func leeway(lifetime: Duration, expected: Duration) {
        #expect(RefreshLimits().leeway(forLifetime: lifetime) == expected)
    }

    @Test(
        "invariant 9: at ±1 ns around leeway and expiry, a credential serves, is refreshed beside, or is waited for",
        arguments: [
            (Duration.seconds(90) - .nanoseconds(1), "answer a1"),
            (.seconds(90), "start 1 from a, started 1, answer a1"),
            (.seconds(90) + .nanoseconds(1), "start 1 from a, started 1, answer a1"),
            (.seconds(100) - .nanoseconds(1), "start 1 from a, started 1, answer a1"),
            (.seconds(100), "start 1 from a, started 1, wait"),
            (.seconds(100) + .nanoseconds(1), "start 1 from a, started 1, wait"),
        ]
    )
    func expiry(now: Duration, expected: String) {
        var (machine, _) = Self.machine(.idle)
        let immediate = machine.immediateAnswer(to: .init(), at: now).map { "answer \(Self.text($0))" }
        let answer = Self.list(machine.handle(.ask(.init()), at: now))
        #expect(answer == expected)
        #expect(immediate == (answer == "answer a1" ? answer : nil), "both ways of asking agree")
    }

    @Test("a lifetime of zero, or less, expires at once; one without end never", arguments: [-1, 0, 1])
    func lifetimes(sign: Int) {
        var machine = Machine(limits: RefreshLimits())
        let lifetime =
            sign < 0 ? Duration.seconds(-5) : sign == 0 ? .zero : .seconds(Double.greatestFiniteMagnitude / 1e290)
        _ = machine.handle(.signIn(CredentialBox("a"), lifetime: lifetime), at: .seconds(1))
        let answer = Self.list(machine.handle(.ask(.init()), at: .seconds(1)))
        #expect(answer == (sign > 0 ? "answer a1" : "start 1 from a, started 1, wait"))
    }

    @Test("invariant 1: a late 401 with an old generation does not reject the present one, refresh or no refresh")
    func lateRejection() throws {
        var (machine, _) = Self.machine(.refreshing)
        let fresh = Machine.Input.refreshSucceeded(Self.flight, CredentialBox("b"), lifetime: .seconds(100))
        _ = machine.handle(fresh, at: .zero)
        let late = Machine.Question(rejected: 1)
        #expect(machine.immediateAnswer(to: late, at: .seconds(5)).map { Self.text($0) } == "b2")
        #expect(Self.list(machine.handle(.ask(late), at: .seconds(5))) == "answer b2")
        #expect(Self.list(machine.handle(.ask(late), at: .seconds(95))) == "start 2 from b, started 2, answer b2")
        #expect(Self.list(machine.handle(.ask(late), at: .seconds(96))) == "answer b2")
        #expect(Self.summary(machine.state) == "refreshing b2 by 2")
    }

    @Test("invariant 9: a call waits for a background refresh once the credential has expired")
    func backgroundPastExpiry() {
        var (machine, _) = Self.machine(.background)
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(100) - .nanoseconds(1))) == "answer a1")
        #expect(!machine.state.holdsRetries(at: .seconds(100) - .nanoseconds(1)))
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(100))) == "wait")
        #expect(machine.state.holdsRetries(at: .seconds(100)))
    }

    @Test("a failed background refresh fails no call while the credential serves, and starts again after its cool-down")
    func backgroundFailure() {
        var (machine, now) = Self.machine(.background)
        _ = machine.handle(.refreshFailed(Self.flight, .transient(Unreachable(), coolDown: .seconds(5))), at: now)
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(95))) == "answer a1")
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(96))) == "start 2 from a, started 1, answer a1")
    }

    @Test(
        "invariant 5: the cool-down ends at its last nanosecond",
        arguments: [
            (Duration.seconds(12) - .nanoseconds(1), "wait until 12 s or coolingDown(0 ms)"),
            (.seconds(12), "start 2 from a, started 1, wait"),
            (.seconds(12) + .nanoseconds(1), "start 2 from a, started 1, wait"),
        ]
    )
    func coolDownEnd(now: Duration, expected: String) {
        var (machine, _) = Self.machine(.coolingDown)
        #expect(Self.list(machine.handle(.ask(.init()), at: now)) == expected)
    }

    @Test("a refresh knows how many failed in a row before it, until one succeeds")
    func failuresInARow() throws {
        var (machine, _) = Self.machine(.coolingDown)
        let second = try #require(Self.started(machine.handle(.ask(.init()), at: .seconds(12))))
        #expect((second.failures, second.previousCoolDown) == (1, .seconds(10)))
        _ = machine.handle(.refreshFailed(second, .transient(Unreachable(), coolDown: .seconds(20))), at: .seconds(13))
        let third = try #require(Self.started(machine.handle(.ask(.init()), at: .seconds(33))))
        #expect((third.failures, third.previousCoolDown) == (2, .seconds(20)))
        _ = machine.handle(.refreshSucceeded(third, CredentialBox("b"), lifetime: nil), at: .seconds(34))
        let fourth = try #require(Self.started(machine.handle(.ask(.init(rejected: 2)), at: .seconds(34))))
        #expect((fourth.failures, fourth.previousCoolDown) == (0, .zero))
    }

    @Test(
        "B9: the sixth refresh within 30 s does not start; one nanosecond makes the difference",
        arguments: [0, 1_000_000]
    )
    func window(begin: Int) throws {
        let begin = Duration.seconds(begin)
        var machine = Machine(limits: RefreshLimits())
        _ = machine.handle(.signIn(CredentialBox("a"), lifetime: nil), at: begin)
        for start in 1...5 {
            let (question, now) = (Machine.Question(rejected: start), begin + .seconds(start))
            let flight = try #require(Self.started(machine.handle(.ask(question), at: now)))
            _ = machine.handle(.refreshSucceeded(flight, CredentialBox("a"), lifetime: nil), at: now)
        }
        let sixth = Machine.Input.ask(.init(rejected: 6))
        let opening = begin + .seconds(31)
        #expect(Self.list(machine.handle(sixth, at: begin + .seconds(6))) == "answer tooManyRefreshes(5 in 30 s)")
        let refused = machine.handle(sixth, at: opening - .nanoseconds(1))
        #expect(Self.list(refused) == "answer tooManyRefreshes(5 in 30 s)")
        #expect(Self.list(machine.handle(sixth, at: opening)) == "start 6 from a, started 6, wait")
    }

    @Test("the window outlives a sign-in: an app that signs in again by itself makes a loop, too")
    func windowAcrossSessions() throws {
        var machine = Machine(limits: RefreshLimits(maxStarts: 1))
        _ = machine.handle(.signIn(CredentialBox("a"), lifetime: nil), at: .zero)
        _ = machine.handle(.ask(.init(rejected: 1)), at: .zero)
        _ = machine.handle(.signIn(CredentialBox("b"), lifetime: nil), at: .zero)
        let actions = machine.handle(.ask(.init(rejected: 2)), at: .seconds(1))
        #expect(Self.list(actions) == "answer tooManyRefreshes(1 in 30 s)")
    }

    @Test("the window refuses a background refresh silently")
    func windowInLeeway() {
        var machine = Machine(limits: RefreshLimits(maxStarts: 1, window: .seconds(1000)))
        _ = machine.handle(.signIn(CredentialBox("a"), lifetime: nil), at: .zero)
        let first = Self.started(machine.handle(.ask(.init(rejected: 1)), at: .zero)) ?? Self.flight
        _ = machine.handle(.refreshSucceeded(first, CredentialBox("b"), lifetime: .seconds(100)), at: .zero)
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(95))) == "answer b2")
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(100))) == "answer tooManyRefreshes(1 in 1000 s)")
    }

    @Test("invariant 10: the slot of an overdue refresh is freed when it ends, or at the end of its grace")
    func grace() {
        var (ignoring, _) = Self.machine(.overdue)
        let freed = Duration.seconds(61)
        #expect(
            Self.list(ignoring.handle(.ask(.init()), at: freed - .nanoseconds(1)))
                == "wait until 61 s or coolingDown(0 ms)"
        )
        #expect(Self.list(ignoring.handle(.ask(.init()), at: freed)) == "start 2 from a, started 1, wait")

        var (obeying, _) = Self.machine(.overdue)
        _ = obeying.handle(
            .refreshFailed(Self.flight, .transient(CancellationError(), coolDown: .zero)),
            at: .seconds(32)
        )
        #expect(Self.list(obeying.handle(.ask(.init()), at: .seconds(40))) == "wait until 41 s or coolingDown(1 s)")
        #expect(Self.list(obeying.handle(.ask(.init()), at: .seconds(41))) == "start 2 from a, started 1, wait")
    }

    @Test(
        "invariant 10: a success after the grace is adopted in place of the refresh that followed, whose own is dropped"
    )
    func lateSuccess() throws {
        var (machine, _) = Self.machine(.overdue)
        let second = try #require(Self.started(machine.handle(.ask(.init()), at: .seconds(61))))
        let late = machine.handle(
            .refreshSucceeded(Self.flight, CredentialBox("late"), lifetime: nil),
            at: .seconds(62)
        )
        #expect(Self.list(late) == "cancel 2, resume late2, refreshed 2, ended 2")
        let dropped = machine.handle(
            .refreshSucceeded(second, CredentialBox("dropped"), lifetime: nil),
            at: .seconds(63)
        )
        #expect(Self.list(dropped) == "ended in vain")
        #expect(machine.state.held.map { Self.text($0.versioned) } == "late2")
    }

    @Test("a late terminal failure does not end the session of the refresh that followed")
    func lateTerminalFailure() throws {
        var (machine, _) = Self.machine(.overdue)
        let second = try #require(Self.started(machine.handle(.ask(.init()), at: .seconds(61))))
        let actions = machine.handle(.refreshFailed(Self.flight, .terminal(Unreachable())), at: .seconds(62))
        #expect(Self.list(actions) == "ended in vain")
        #expect(Self.summary(machine.state) == "refreshing a1 rejected by 2")
        // It no longer counts as one of the two that may run.
        _ = machine.handle(.timeLimitReached(second, coolDown: .seconds(10)), at: .seconds(91))
        #expect(machine.nextStart == .seconds(121))
    }

    @Test("a late failure does not free the slot of the refresh that followed, which is overdue as well")
    func lateFailure() throws {
        var (machine, _) = Self.machine(.overdue)
        let second = try #require(Self.started(machine.handle(.ask(.init()), at: .seconds(61))))
        _ = machine.handle(.timeLimitReached(second, coolDown: .seconds(10)), at: .seconds(91))
        #expect(machine.nextStart == nil)
        let late = Machine.Input.refreshFailed(Self.flight, .transient(Unreachable(), coolDown: .zero))
        #expect(Self.list(machine.handle(late, at: .seconds(92))) == "ended in vain")
        #expect(Self.summary(machine.state) == "coolingDown a1 rejected after overdue 2")
        #expect(machine.nextStart == .seconds(121))
    }

    @Test(
        "invariant 10: the refresh after an overdue one starts when the grace and the cool-down are both over",
        arguments: [(10, 61, 30), (100, 131, 100)]
    )
    func overdueCoolDown(coolDown: Int, start: Int, remaining: Int) {
        var (machine, _) = Self.machine(.refreshing)
        let limit = Machine.Input.timeLimitReached(Self.flight, coolDown: .seconds(coolDown))
        let failure = "timedOut(30 s, next in \(remaining) s)"
        #expect(
            Self.list(machine.handle(limit, at: .seconds(31)))
                == "cancel 1, wait until \(start) s or fail \(failure), refreshFailed 1 \(failure)"
        )
        #expect(machine.nextStart == .seconds(start))
    }

    @Test(
        "a credential that a refresh brings expired serves until it is rejected; one from outside is refreshed",
        arguments: [0, -1]
    )
    func bornExpired(lifetime: Int) {
        var (refreshed, now) = Self.machine(.refreshing)
        let lifetime = Duration.seconds(lifetime)
        _ = refreshed.handle(.refreshSucceeded(Self.flight, CredentialBox("b"), lifetime: lifetime), at: now)
        #expect(Self.list(refreshed.handle(.ask(.init()), at: now)) == "answer b2")
        var (replaced, _) = Self.machine(.idle)
        _ = replaced.handle(.replace(generation: 1, CredentialBox("c"), lifetime: lifetime), at: now)
        #expect(Self.list(replaced.handle(.ask(.init()), at: now)) == "start 1 from c, started 2, wait")
    }

    @Test("time that runs backwards between threads, by the order of their locks, does no harm")
    func unorderedTimes() {
        var (machine, _) = Self.machine(.coolingDown)
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(1))) == "wait until 12 s or coolingDown(11 s)")
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(12))) == "start 2 from a, started 1, wait")
        #expect(Self.list(machine.handle(.ask(.init()), at: .seconds(2))) == "wait")
    }

    static func started(_ actions: [Machine.Action]) -> RefreshFlight? {
        actions.lazy.compactMap { if case .startRefresh(let flight, _) = $0 { flight } else { nil } }.first
    }

    static func list(_ actions: [Machine.Action]) -> String {
        actions.map(summary).joined(separator: ", ")
    }
}
