import Testing

@testable import Nautilus

@Suite("Values of which the least recently used gives way")
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

    @Test("beyond the limit, whatever was used longest ago is gone; reading is a use")
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

    @Test("a limit below 1 is 1")
    func limit() {
        var values = values("a", "b", limit: -1)
        #expect(values.count == 1)
        #expect(values.value(for: "b") == 1)
    }
}
