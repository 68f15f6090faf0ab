import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A memory of recently used values")
struct RecentlyUsedTests {
    private func values(_ keys: String..., limit: Int = 3) -> RecentlyUsed<String, Int> {
        var values = RecentlyUsed<String, Int>(limit: limit)
        for key in keys { values.update(key, default: 0) { $0 += 1 } }
        return values
    }

    @Test("a value is changed in its place")
    func change() {
        var values = values("a", "b", "a", "a")
        #expect(values.value(for: "a") == 3)
        #expect(values.value(for: "b") == 1)
        #expect(values.value(for: "c") == nil)
        #expect(values.count == 2)
    }

    @Test("beyond the limit, the value that was used longest ago is gone; reading is a use")
    func eviction() {
        var values = values("a", "b", "c")
        #expect(values.value(for: "a") == 1)
        values.update("d", default: 0) { $0 += 1 }
        #expect(values.value(for: "b") == nil)
        #expect(values.value(for: "a") == 1)
        values.update("e", default: 0) { $0 += 1 }
        #expect(values.value(for: "c") == nil)
        #expect(values.count == 3)
    }

    @Test("a value can be changed in its place, which is a use, and is not made by it")
    func inPlace() {
        var values = values("a", "b", "c")
        #expect(values.withValue(for: "d") { $0 } == nil)
        #expect(values.count == 3)
        let changed = values.withValue(for: "a") { value in
            value += 10
            return value
        }
        #expect(changed == 11)
        values.update("d", default: 0) { $0 += 1 }
        #expect(values.value(for: "b") == nil)
        #expect(values.value(for: "a") == 11)
    }

    @Test("RecentlyUsed keeps the same values as an array in the order of use")
    func model() {
        for seed in 0..<500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var (values, model) = (RecentlyUsed<Int, Int>(limit: 4), [(key: Int, value: Int)]())
            for step in 0..<60 {
                let key = Int.random(in: 0..<8, using: &generator)
                let index = model.firstIndex { $0.key == key }
                if step % 20 == 19 {
                    values.removeAll { $0 < 2 }
                    model.removeAll { $0.key < 2 }
                    continue
                }
                switch Int.random(in: 0..<5, using: &generator) {
                case 0:
                    #expect(values.removeValue(for: key) == index.map { model.remove(at: $0).value })
                case 1:
                    #expect(values.value(for: key) == index.map { model[$0].value })
                    if let index { model.append(model.remove(at: index)) }
                default:
                    values.update(key, default: 0) { $0 += step }
                    model.append((key, (index.map { model.remove(at: $0).value } ?? 0) + step))
                    if model.count > 4 { model.removeFirst() }
                }
                #expect(values.count == model.count)
            }
            for (key, value) in model { #expect(values.value(for: key) == value) }
        }
    }

    @Test("C28: a hundred thousand uses of as many values cost no search among them")
    func crowd() {
        var values = RecentlyUsed<Int, Int>(limit: 100_000)
        // A search through all for the oldest would take minutes.
        for key in 0..<200_000 { values.update(key, default: key) { _ in } }
        #expect(values.count == 100_000)
        #expect(values.value(for: 99_999) == nil)
        #expect(values.value(for: 100_000) == 100_000)
    }

    @Test("the limit of a memory is at least 1")
    func limit() {
        var values = values("a", "b", limit: -1)
        #expect(values.count == 1)
        #expect(values.value(for: "b") == 1)
    }
}
