import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("WaitQueue: by urgency, then by arrival")
struct WaitQueueTests {
    @Test("the most urgent come first, and of the equally urgent those that came first")
    func order() {
        var queue = WaitQueue<NamedWaiter>()
        for (place, urgency) in [0, 5, 9, 5, 0, 9].enumerated() {
            queue.append(NamedWaiter("\(urgency) at \(place)"), urgency: urgency)
        }
        #expect(queue.count == 6)
        let order = (0..<7).map { _ in queue.popFirst()?.id }
        #expect(order == ["9 at 2", "9 at 5", "5 at 1", "5 at 3", "0 at 0", "0 at 4", nil])
        #expect(queue.count == 0)
    }

    @Test("a WaitQueue behaves like a sorted list")
    func model() {
        for seed in 0..<1_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var (queue, model, last) = (WaitQueue<NamedWaiter>(), [(urgency: Int, id: String)](), 0)
            for _ in 0..<60 {
                switch Int.random(in: 0..<16, using: &generator) {
                case 0...7:
                    last += 1
                    let urgency = Int.random(in: -1...2, using: &generator)
                    queue.append(NamedWaiter("\(last)"), urgency: urgency)
                    let index = model.firstIndex { $0.urgency < urgency } ?? model.count
                    model.insert((urgency, "\(last)"), at: index)
                case 8...11:
                    #expect(queue.popFirst()?.id == (model.isEmpty ? nil : model.removeFirst().id))
                case 12, 13:
                    let id = "\(Int.random(in: 0...last, using: &generator))"
                    let isThere = model.contains { $0.id == id }
                    model.removeAll { $0.id == id }
                    #expect(queue.remove(id)?.id == (isThere ? id : nil))
                case 14:
                    let gone = model.filter { $0.id.hasSuffix("3") }.map(\.id)
                    model.removeAll { $0.id.hasSuffix("3") }
                    #expect(queue.remove { $0.id.hasSuffix("3") }.map(\.id) == gone)
                default:
                    guard seed.isMultiple(of: 10) else { continue }
                    #expect(queue.removeAll().map(\.id) == model.map(\.id))
                    model = []
                }
                #expect(queue.count == model.count)
            }
        }
    }

    @Test("C10: a hundred thousand who leave in any order cost no more than as many who are served")
    func crowd() {
        var queue = WaitQueue<NamedWaiter>()
        let names = (0..<100_000).map { "\($0)" }
        for name in names { queue.append(NamedWaiter(name), urgency: name.utf8.count % 3) }
        // With a search for each it would take minutes.
        for name in names.reversed() { #expect(queue.remove(name)?.id == name) }
        #expect(queue.count == 0)
    }
}
