import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("PaceLimits: limits that servers report")
struct PaceLimitsTests {
    typealias Support = PaceMachineTests

    @Test("of several used-up limits, the one that ends last counts")
    func several() {
        var machine = Support.machine(
            Support.limit(0, .seconds(1), policy: "a"),
            Support.limit(0, .seconds(3), policy: "b"),
            Support.limit(1, .seconds(9), policy: "c")
        )
        let answers = [2, 3].map { Support.ask(&machine, at: .seconds($0)) }
        #expect(answers == ["wait", "go"])
        #expect(Support.ask(&machine, at: .seconds(4)) == "wait", "c is used up now")
        #expect(Support.ask(&machine, at: .seconds(9)) == "go")
    }

    @Test("a window whose quota and length are known begins anew, again and again; another is forgotten")
    func windows() {
        var machine = Support.machine(Support.limit(0, .seconds(5), quota: 2, window: .seconds(10)))
        // 5…15 s, 15…25 s; there are no requests from 25 s to 45 s.
        let answers = [5, 6, 7, 15, 24, 24, 25 + 20, 46, 47, 55].map { Support.ask(&machine, at: .seconds($0)) }
        #expect(answers == ["go", "go", "wait", "wait", "wait", "wait", "wait", "wait", "wait", "wait"])
        // Those two are under way still, and each window might count them.
        for number in 2...3 { machine.ended(number, isSent: false) }
        #expect(Support.ask(&machine, at: .seconds(55)) == "go")

        var forgotten = Support.machine(Support.limit(0, .seconds(5), quota: 2))
        let others = (0..<5).map { _ in Support.ask(&forgotten, at: .seconds(5)) }
        #expect(others == Array(repeating: "go", count: 5))
    }

    @Test("requests under way are subtracted from a reported limit until a later report includes them")
    func underWay() {
        var machine = Support.machine()
        let numbers = (0..<3).compactMap { _ in machine.immediateNumber() }
        _ = machine.answered(numbers[0], limits: [Support.limit(3, .seconds(9))], retryAfter: nil, at: .zero)
        // Two are under way, and may or may not be in the three.
        #expect(Support.ask(&machine, at: .zero) == "go")
        #expect(Support.ask(&machine, at: .zero) == "wait")
        _ = machine.answered(numbers[1], limits: [Support.limit(4, .seconds(9))], retryAfter: nil, at: .zero)
        #expect(Support.ask(&machine, at: .zero) == "go", "it had counted the second before the first was answered")
    }

    @Test("an answer that comes out of order never makes more of a limit, and may make less of it")
    func order() {
        var machine = Support.machine()
        let numbers = (0..<3).compactMap { _ in machine.immediateNumber() }
        _ = machine.answered(numbers[2], limits: [Support.limit(1, .seconds(9))], retryAfter: nil, at: .zero)
        _ = machine.answered(numbers[0], limits: [Support.limit(3, .seconds(9))], retryAfter: nil, at: .zero)
        _ = machine.answered(numbers[1], limits: [Support.limit(2, .seconds(9))], retryAfter: nil, at: .zero)
        #expect(Support.ask(&machine, at: .zero) == "go")
        #expect(Support.ask(&machine, at: .zero) == "wait", "one was left, whatever the older answers say")

        var counted = Support.machine()
        let (first, second) = (counted.immediateNumber() ?? 0, counted.immediateNumber() ?? 0)
        _ = counted.answered(second, limits: [Support.limit(1, .seconds(9))], retryAfter: nil, at: .zero)
        _ = counted.answered(first, limits: [Support.limit(0, .seconds(4))], retryAfter: nil, at: .zero)
        #expect(Support.ask(&counted, at: .seconds(4) - Support.ns) == "wait", "the server counted the first last")
        #expect(Support.ask(&counted, at: .seconds(4)) == "go")
    }

    @Test("a request whose answer names no limit counts, unless nothing of it was sent")
    func counted() {
        for isSent in [true, false] {
            var machine = Support.machine(Support.limit(1, .seconds(5)))
            #expect(Support.ask(&machine, at: .zero) == "go")
            machine.ended(2, isSent: isSent)
            #expect(Support.ask(&machine, at: .zero) == (isSent ? "wait" : "go"))
        }
        var silent = Support.machine(Support.limit(1, .seconds(5)))
        #expect(Support.ask(&silent, at: .zero) == "go")
        _ = silent.answered(2, limits: [], retryAfter: nil, at: .zero)
        #expect(Support.ask(&silent, at: .zero) == "wait")
    }

    @Test("a policy whose partition changes is another's: what was known of it is forgotten")
    func partitions() {
        var machine = Support.machine(
            Support.limit(0, .seconds(9), partition: "ann"),
            Support.limit(1, .seconds(9), policy: "b")
        )
        #expect(Support.ask(&machine, at: .zero) == "wait")
        var other = Support.machine(Support.limit(1, .seconds(9), partition: "ann"))
        #expect(Support.ask(&other, at: .zero) == "go")
        _ = other.answered(2, limits: [Support.limit(1, .seconds(9), partition: "bob")], retryAfter: nil, at: .zero)
        let answers = (0..<2).map { _ in Support.ask(&other, at: .zero) }
        #expect(answers == ["go", "wait"])
    }

    @Test("policies that are never the same fill no memory")
    func manyPolicies() {
        var limits = PaceLimits()
        for index in 0..<1_000 {
            limits.report(
                [Support.limit(0, .seconds(index), policy: "\(index)")],
                by: index,
                lastNumber: index,
                at: .zero
            )
        }
        #expect(limits.blockedUntil(underWay: 0, at: .seconds(998)) == .seconds(999))
        #expect(limits.count == 32)
    }
}
