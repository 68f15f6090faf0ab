import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("LinkedTable: values by key, in an order of their own")
struct LinkedTableTests {
    @Test("a LinkedTable behaves like an array of pairs")
    func model() {
        for seed in 0..<1_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var (table, model) = (LinkedTable<Int, Int>(), [(key: Int, value: Int)]())
            for step in 0..<80 {
                let key = Int.random(in: 0..<12, using: &generator)
                let index = model.firstIndex { $0.key == key }
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    table.append(step, for: key)
                    if let index { model.remove(at: index) }
                    model.append((key, step))
                case 2:
                    #expect(table.removeValue(for: key) == index.map { model.remove(at: $0).value })
                case 3:
                    #expect(table.popFirst() == (model.isEmpty ? nil : model.removeFirst().value))
                default:
                    let toEnd = step.isMultiple(of: 2)
                    let before = table.withValue(for: key, movingToEnd: toEnd) { value in
                        defer { value += 100 }
                        return value
                    }
                    #expect(before == index.map { model[$0].value })
                    guard let index else { continue }
                    model[index].value += 100
                    if toEnd { model.append(model.remove(at: index)) }
                }
                #expect(table.values == model.map(\.value))
                #expect((table.count, table.first) == (model.count, model.first?.value))
            }
            #expect(table.keys { key, _ in key > 5 } == model.map(\.key).filter { $0 > 5 })
        }
    }
}
