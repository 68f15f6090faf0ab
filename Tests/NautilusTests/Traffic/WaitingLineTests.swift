import NautilusTesting
import Testing

@testable import Nautilus

@Suite("WaitingLine: by priority, then by arrival")
struct WaitingLineTests {
    @Test("the most urgent come first, and within a priority those that came first")
    func order() {
        var line = WaitingLine<String>()
        for (ticket, priority) in [RequestPriority.low, .normal, .high, .normal, .low, .high].enumerated() {
            line.append("\(priority) \(ticket)", ticket: ticket, priority: priority)
        }
        #expect(line.count == 6)
        let order = (0..<7).map { _ in line.popFirst() }
        #expect(order == ["high 2", "high 5", "normal 1", "normal 3", "low 0", "low 4", nil])
        #expect(line.count == 0)
    }

    @Test("it does what a sorted list would, whoever comes, is served or leaves")
    func model() {
        for seed in 0..<1_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var (line, model, lastTicket) = (WaitingLine<Int>(), [(priority: RequestPriority, ticket: Int)](), 0)
            for _ in 0..<60 {
                switch Int.random(in: 0..<8, using: &generator) {
                case 0...3:
                    lastTicket += 1
                    let priority = RequestPriority.allCases.randomElement(using: &generator) ?? .normal
                    line.append(lastTicket, ticket: lastTicket, priority: priority)
                    let index = model.firstIndex { $0.priority < priority } ?? model.count
                    model.insert((priority, lastTicket), at: index)
                case 4...5:
                    #expect(line.popFirst() == (model.isEmpty ? nil : model.removeFirst().ticket))
                case 6:
                    let ticket = Int.random(in: 0...lastTicket, using: &generator)
                    let isThere = model.contains { $0.ticket == ticket }
                    model.removeAll { $0.ticket == ticket }
                    #expect(line.remove(ticket: ticket) == (isThere ? ticket : nil))
                default:
                    let gone = model.filter { $0.ticket.isMultiple(of: 3) }.map(\.ticket)
                    model.removeAll { $0.ticket.isMultiple(of: 3) }
                    #expect(line.remove { $0.waiter.isMultiple(of: 3) } == gone)
                }
                #expect(line.count == model.count)
            }
        }
    }
}
