import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("CircuitMachine: the pure transitions")
struct CircuitMachineTests {
    typealias Machine = CircuitMachine

    /// The states, each reached by the shortest way: two of four requests fail at 1 s, and the pause lasts until 6 s.
    enum Start: String, CaseIterable {
        case closed, tipping, open, pauseOver, probing, freed
    }

    static let limits = CircuitLimits(failureRate: 0.5, minimumThroughput: 4, failuresInARow: .max)
    static let pause = Duration.seconds(5)

    /// The machine in a state, the permits of a regular request and of the probe that are under way, and the time.
    static func machine(_ start: Start) -> (
        machine: Machine, regular: Machine.Permit?, probe: Machine.Permit?, Duration
    ) {
        var machine = Machine(limits: limits)
        guard let stale = machine.immediatePermit() else { return (machine, nil, nil, .zero) }
        guard start != .closed else { return (machine, stale, nil, .seconds(3)) }
        for outcome in [Machine.Outcome.success, .success, .failure(pause: pause)] {
            end(&machine, machine.immediatePermit(), outcome, .seconds(1))
        }
        guard start != .tipping else { return (machine, stale, nil, .seconds(3)) }
        end(&machine, machine.immediatePermit(), .failure(pause: pause), .seconds(1))
        guard start != .open else { return (machine, stale, nil, .seconds(3)) }
        guard start != .pauseOver else { return (machine, stale, nil, .seconds(6)) }
        guard case .go(let probe) = machine.ask(at: .seconds(6)).answer else { return (machine, stale, nil, .zero) }
        guard start != .probing else { return (machine, stale, probe, .seconds(7)) }
        end(&machine, probe, .nothing, .seconds(7))
        return (machine, stale, probe, .seconds(7))
    }

    @discardableResult
    static func end(
        _ machine: inout Machine,
        _ permit: Machine.Permit?,
        _ outcome: Machine.Outcome,
        _ now: Duration
    ) -> CircuitEvent.Change? {
        permit.flatMap { machine.end($0, outcome, at: now) }
    }

    @Test("a slow probe that fails after another probe has closed the circuit does not open it again")
    func lateFailure() throws {
        var (machine, _, slow, _) = Self.machine(.probing)
        guard case .go(let second) = machine.ask(at: .seconds(11)).answer else {
            Issue.record("another probe goes")
            return
        }
        #expect(Self.end(&machine, second, .success, .seconds(12)) == .closed)
        #expect(Self.end(&machine, slow, .failure(pause: Self.pause), .seconds(13)) == nil)
        #expect(machine.visibleState(at: .seconds(13)) == .closed)
    }

    @Test("a probe that takes longer than the pause decides no longer alone: the first of two that ends does")
    func slowProbe() throws {
        for outcome in [Machine.Outcome.success, .failure(pause: Self.pause), .nothing] {
            var (machine, _, slow, _) = Self.machine(.probing)
            #expect(machine.ask(at: .milliseconds(10_999)).answer == .refuse(nextProbe: nil))
            guard case .go(let second) = machine.ask(at: .seconds(11)).answer else {
                Issue.record("another probe goes")
                return
            }
            #expect(machine.ask(at: .seconds(12)).answer == .refuse(nextProbe: nil))
            Self.end(&machine, second, outcome, .seconds(12))
            switch outcome {
            case .success: #expect(machine.visibleState(at: .seconds(12)) == .closed)
            case .failure: #expect(machine.visibleState(at: .seconds(12)) == .open(remaining: Self.pause))
            case .nothing: #expect(machine.visibleState(at: .seconds(12)) == .halfOpen(isProbing: true))
            }
            Self.end(&machine, slow, .success, .seconds(13))
            let state = machine.visibleState(at: .seconds(13))
            #expect(state == (outcome == .failure(pause: Self.pause) ? .open(remaining: .seconds(4)) : .closed))
        }
    }

    @Test("every state answers every input as the table says", arguments: Start.allCases)
    func everyTransition(start: Start) {
        let (asked, regular, probe, now) = Self.machine(start)
        var found: [String] = []
        do {
            var machine = asked
            let (answer, change) = machine.ask(at: now)
            found.append("ask: \(Self.text(answer))\(Self.text(change)) → \(machine.visibleState(at: now))")
        }
        let outcomes: [(String, Machine.Outcome)] = [
            ("success", .success), ("failure", .failure(pause: Self.pause)), ("nothing", .nothing),
        ]
        for (who, permit) in [("regular", regular), ("probe", probe)] {
            for (name, outcome) in outcomes where permit != nil {
                var machine = asked
                let change = Self.end(&machine, permit, outcome, now)
                found.append("\(who), \(name):\(Self.text(change)) → \(machine.visibleState(at: now))")
            }
        }
        #expect(found == Self.table[start])
    }

    static let table: [Start: [String]] = [
        .closed: [
            "ask: go → closed",
            "regular, success: → closed",
            "regular, failure: → closed",
            "regular, nothing: → closed",
        ],
        // One failure of three: one more makes it half of four.
        .tipping: [
            "ask: go → closed",
            "regular, success: → closed",
            "regular, failure: opened for 5 s → open for 5 s",
            "regular, nothing: → closed",
        ],
        // Requests that were let through before the circuit opened no longer count.
        .open: [
            "ask: refuse for 3 s → open for 3 s",
            "regular, success: → open for 3 s",
            "regular, failure: → open for 3 s",
            "regular, nothing: → open for 3 s",
        ],
        .pauseOver: [
            "ask: go as probe, probed → half-open, probing",
            "regular, success: → half-open",
            "regular, failure: → half-open",
            "regular, nothing: → half-open",
        ],
        .probing: [
            "ask: refuse → half-open, probing",
            "regular, success: → half-open, probing",
            "regular, failure: → half-open, probing",
            "regular, nothing: → half-open, probing",
            "probe, success: closed → closed",
            "probe, failure: opened for 5 s → open for 5 s",
            "probe, nothing: → half-open",
        ],
        // The probe was cancelled: its place is free, and it has nothing to say any more.
        .freed: [
            "ask: go as probe, probed → half-open, probing",
            "regular, success: → half-open",
            "regular, failure: → half-open",
            "regular, nothing: → half-open",
            "probe, success: → half-open",
            "probe, failure: → half-open",
            "probe, nothing: → half-open",
        ],
    ]

    @Test(
        "the pause ends at its last nanosecond",
        arguments: [
            (Duration.seconds(6) - .nanoseconds(1), "refuse for 0 ms"), (.seconds(6), "go as probe"),
            (.seconds(6) + .nanoseconds(1), "go as probe"),
        ]
    )
    func pauseEnd(now: Duration, expected: String) {
        var (machine, _, _, _) = Self.machine(.open)
        let answer = machine.ask(at: now).answer
        #expect(Self.text(answer) == expected)
    }

    @Test(
        "a circuit opens at the rate and at the throughput, not one request before",
        arguments: [
            (2, 2, true), (1, 2, false), (1, 3, false), (3, 1, true), (0, 4, false), (4, 0, true),
            (19, 20, false), (20, 20, true),
        ]
    )
    func threshold(failures: Int, successes: Int, opens: Bool) {
        var machine = Machine(limits: Self.limits)
        for index in 0..<(failures + successes) {
            let outcome: Machine.Outcome = index < successes ? .success : .failure(pause: Self.pause)
            Self.end(&machine, machine.immediatePermit(), outcome, .seconds(1))
        }
        let isClosed = machine.immediatePermit() != nil
        #expect(isClosed == !opens)
    }

    @Test("failures that have left the window do not open it")
    func window() {
        var machine = Machine(limits: Self.limits)
        for second in [0, 0, 0, 10, 10, 10] {
            Self.end(&machine, machine.immediatePermit(), .failure(pause: Self.pause), .seconds(second))
        }
        #expect(machine.visibleState(at: .seconds(10)) == .closed)
        Self.end(&machine, machine.immediatePermit(), .failure(pause: Self.pause), .seconds(10))
        #expect(machine.visibleState(at: .seconds(10)) == .open(remaining: .seconds(5)))
    }

    @Test("after a probe has closed the circuit, no earlier outcome counts")
    func fresh() {
        var (machine, stale, probe, now) = Self.machine(.probing)
        Self.end(&machine, probe, .success, now)
        for _ in 0..<3 { Self.end(&machine, machine.immediatePermit(), .failure(pause: Self.pause), now) }
        Self.end(&machine, stale, .failure(pause: Self.pause), now)
        #expect(machine.visibleState(at: now) == .closed)
    }

    @Test("pauses count the openings in a row, until a probe succeeds")
    func openings() throws {
        var (machine, _, probe, _) = Self.machine(.probing)
        #expect((probe?.openings, probe?.previousPause) == (1, .seconds(5)))
        Self.end(&machine, probe, .failure(pause: .seconds(10)), .seconds(7))
        guard case .go(let second) = machine.ask(at: .seconds(17)).answer else { throw Unexpected() }
        #expect((second.openings, second.previousPause) == (2, .seconds(10)))
        Self.end(&machine, second, .success, .seconds(18))
        let regular = machine.immediatePermit()
        #expect((regular?.openings, regular?.previousPause) == (0, .zero))
    }

    @Test("the longest pause, and time that runs backwards, do no harm")
    func extremes() {
        var (machine, regular, _, _) = Self.machine(.tipping)
        Self.end(&machine, regular, .failure(pause: .seconds(Int64.max)), .seconds(3))
        let answer = machine.ask(at: .zero).answer
        #expect(Self.text(answer) == "refuse for 3155760003 s")
    }

    @Test("a circuit may be forgotten when it is closed, empty, and nothing is under way")
    func worthless() {
        var machine = Machine(limits: Self.limits)
        #expect(machine.worth(at: .zero) == .nothing)
        let permit = machine.immediatePermit()
        #expect(machine.worth(at: .zero) == .indispensable)
        Self.end(&machine, permit, .failure(pause: Self.pause), .zero)
        #expect(machine.worth(at: .seconds(10) - .nanoseconds(1)) > .nothing)
        #expect(machine.worth(at: .seconds(10)) == .nothing)
    }

    @Test("the more a circuit has failed the more would be lost, most when it is open for long")
    func worth() throws {
        var worths: [OriginWorth] = []
        for failures in 0..<4 {
            var machine = Machine(limits: Self.limits)
            let permits = (0..<4).map { _ in machine.immediatePermit() }
            for (index, permit) in permits.enumerated() {
                Self.end(&machine, permit, index >= 4 - failures ? .failure(pause: Self.pause) : .success, .seconds(1))
            }
            worths.append(machine.worth(at: .seconds(1)))
        }
        // Two of four have opened it.
        #expect(worths == [.some(0), .some(0.25), .some(6), .some(6)])
        var (open, stale, _, _) = Self.machine(.open)
        Self.end(&open, stale, .nothing, .seconds(3))
        #expect([3, 5, 6, 900].map { open.worth(at: .seconds($0)) } == [.some(4), .some(2), .some(1), .some(1)])
        guard case .go(let probe) = open.ask(at: .seconds(6)).answer else { throw Unexpected() }
        #expect(open.worth(at: .seconds(900)) == .indispensable)
        Self.end(&open, probe, .nothing, .seconds(7))
        #expect(open.worth(at: .seconds(900)) == .some(1))
    }

    @Test("C18: ever new origins that fail do not fill the memory, and the longest pauses are kept")
    func bounded() throws {
        var circuits = CircuitTable(limits: CircuitLimits(minimumThroughput: 1))
        let origins = try (0..<5_000).map { try #require(HttpRequest.test("https://\($0).example.com").origin) }
        for (number, origin) in origins.enumerated() {
            guard case .go(let permit) = circuits.ask(origin, at: .zero) else { throw Unexpected() }
            _ = circuits.end(permit, .failure(pause: .seconds(number + 1)), of: origin, at: .zero)
        }
        #expect(circuits.count <= 1_024)
        let isOpen = { circuits.state(of: $0, at: .zero) != .closed }
        let open = origins.filter(isOpen).count
        #expect(open == circuits.count)
        #expect(origins.suffix(768).filter(isOpen).count == 768)
    }

    private struct Unexpected: Error {}

    static func text(_ answer: Machine.Answer) -> String {
        switch answer {
        case .go(let permit): permit.isProbe ? "go as probe" : "go"
        case .refuse(let pause?): "refuse for \(pause.brief)"
        case .refuse(nil): "refuse"
        }
    }

    static func text(_ change: CircuitEvent.Change?) -> String {
        switch change {
        case .opened(let pause): " opened for \(pause.brief)"
        case .probed: ", probed"
        case .closed: " closed"
        case nil: ""
        }
    }
}
