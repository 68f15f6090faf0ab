import DemoServers
import Testing

@Suite("FaultPlan", .timeLimit(.minutes(10)))
struct FaultPlanTests {
    @Test("the same seed plans the same faults, in whichever order they are asked for")
    func repeatable() {
        let plan = FaultPlan(seed: 42, rate: 0.3)
        let again = FaultPlan(seed: 42, rate: 0.3)
        let forwards = (0..<500).map { plan.fault(ofRequest: $0) }
        let backwards = (0..<500).reversed().map { again.fault(ofRequest: $0) }
        #expect(forwards == backwards.reversed())
        let other = FaultPlan(seed: 43, rate: 0.3)
        #expect(forwards != (0..<500).map { other.fault(ofRequest: $0) })
    }

    @Test("the share of faults is the rate", arguments: [(0.0, 0), (1.0, 10_000), (-1.0, 0), (7.0, 10_000), (.nan, 0)])
    func extremes(rate: Double, faults: Int) {
        let plan = FaultPlan(seed: 1, rate: rate)
        #expect((0..<10_000).filter { plan.fault(ofRequest: $0) != nil }.count == faults)
    }

    @Test("a plan of many requests has every kind of fault")
    func kinds() {
        let plan = FaultPlan(seed: 1, rate: 0.3)
        let faults = Set((0..<5_000).compactMap { plan.fault(ofRequest: $0) })
        #expect(faults.isSuperset(of: [.unavailable(retryAfter: nil), .droppedBeforeHandling, .droppedAfterHandling]))
        #expect(faults.isSuperset(of: [.tooManyRequests(retryAfter: 1), .unavailable(retryAfter: 1)]))
        let delays = faults.compactMap { if case .slow(let delay) = $0 { delay } else { nil } }
        #expect(!delays.isEmpty)
        #expect(delays.allSatisfy { $0 >= .milliseconds(10) && $0 <= .milliseconds(60) })
    }

    @Test("a server without a fault plan has no faults")
    func none() {
        #expect(!(0..<1_000).contains { FaultPlan.none.fault(ofRequest: $0) != nil })
    }
}
