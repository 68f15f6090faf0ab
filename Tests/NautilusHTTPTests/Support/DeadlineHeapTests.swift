import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("DeadlineHeap and SleepQueue")
struct DeadlineHeapTests {
    @Test("alarms come by their deadline, those of one deadline by their number", arguments: 0..<20 as Range<UInt64>)
    func order(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alarms = (0..<200).map { (deadline: Duration.seconds(Int.random(in: 0..<20, using: &generator)), id: $0) }
        var heap = DeadlineHeap()
        for alarm in alarms.shuffled(using: &generator) { heap.insert(alarm.id, at: alarm.deadline) }
        heap.keep { !$0.isMultiple(of: 7) }
        var taken: [Int] = []
        while let first = heap.first {
            taken.append(first.id)
            heap.removeFirst()
        }
        let sorted = alarms.filter { !$0.id.isMultiple(of: 7) }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        #expect(taken == sorted.map(\.id))
    }

    @Test("sleepers that are removed before their deadline do not pile up")
    func removed() {
        var queue = SleepQueue<Int>()
        queue.insert(-1, id: -1, deadline: .seconds(1))
        for id in 0..<10_000 {
            queue.insert(id, id: id, deadline: .seconds(3_600))
            #expect(queue.remove(id) == id)
        }
        #expect(queue.count == 1)
        #expect(queue.deadlines.count <= 68)
        #expect(queue.popFirst() == -1)
    }
}
