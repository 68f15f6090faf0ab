import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("OriginTable: the state of each origin")
struct OriginTableTests {
    typealias Table = OriginTable<Int, String>

    private func add(_ key: Int, to table: inout Table, worth: (String) -> OriginWorth = { _ in .indispensable }) {
        _ = table.place(of: key) {
            "value \(key)"
        } worth: { value in
            worth(value)
        }
    }

    private func value(_ key: Int, in table: Table) -> String? {
        var table = table
        return table.place(of: key).map { table[$0] }
    }

    @Test("each key has its own value, made once, whichever was asked for last")
    func values() {
        var table = Table()
        for key in [1, 2, 1, 3, 1, 2] { add(key, to: &table) }
        #expect(table.count == 3)
        #expect([1, 2, 3, 4].map { value($0, in: table) } == ["value 1", "value 2", "value 3", nil])
        if let place = table.place(of: 2) { table[place] = "changed" }
        #expect(value(2, in: table) == "changed")
    }

    @Test("beyond its limit, the table drops idle origins, and nothing else")
    func pruning() {
        var table = Table()
        for key in 0..<Table.idleLimit { add(key, to: &table) { _ in .nothing } }
        #expect(table.count == 256)
        add(256, to: &table) { $0 == "value 7" ? .some(0) : .nothing }
        #expect(table.count == 2)
        #expect([7, 256, 8].map { value($0, in: table) } == ["value 7", "value 256", nil])
    }

    @Test("entries of some worth stay until there are too many; then the least worthy goes, but none in use")
    func bounded() {
        var table = Table()
        let worth = { (value: String) -> OriginWorth in
            guard let key = Int(value.dropFirst(6)) else { return .nothing }
            return key.isMultiple(of: 100) ? .indispensable : .some(Double(key))
        }
        for key in (0..<10_000).reversed() {
            add(key, to: &table, worth: worth)
            #expect(table.count <= Table.maxCount)
        }
        let kept = (0..<10_000).filter { value($0, in: table) != nil }
        #expect(kept.filter { $0.isMultiple(of: 100) }.count == 100)
        // The latest came after the last look.
        #expect(
            kept.filter { !$0.isMultiple(of: 100) }.suffix(600)
                == (9_393...9_999).filter { !$0.isMultiple(of: 100) }.suffix(600)
        )
    }

    @Test("a table whose entries are all in use grows, and looks again only when it has doubled")
    func growing() {
        var table = Table()
        var looks = 0
        for key in 0..<4_097 {
            add(key, to: &table) { _ in
                looks += 1
                return .indispensable
            }
        }
        #expect(table.count == 4_097)
        #expect(looks == 256 + 512 + 1_024 + 2_048 + 4_096)
    }
}
