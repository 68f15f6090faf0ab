import Testing

@testable import Nautilus

@Suite("OriginTable: what is known of each origin")
struct OriginTableTests {
    typealias Table = OriginTable<Int, String>

    private func add(_ key: Int, to table: inout Table, isIdle: (String) -> Bool = { _ in false }) {
        _ = table.place(of: key) {
            "value \(key)"
        } isIdle: { value in
            isIdle(value)
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

    @Test("beyond its limit it drops what is idle, and nothing else")
    func pruning() {
        var table = Table()
        for key in 0..<Table.idleLimit { add(key, to: &table) { _ in true } }
        #expect(table.count == 256)
        add(256, to: &table) { $0 != "value 7" }
        #expect(table.count == 2)
        #expect([7, 256, 8].map { value($0, in: table) } == ["value 7", "value 256", nil])
    }

    @Test("when nothing is idle it grows, and looks again only when it has doubled")
    func growing() {
        var table = Table()
        var looks = 0
        for key in 0..<1_025 {
            add(key, to: &table) { _ in
                looks += 1
                return false
            }
        }
        #expect(table.count == 1_025)
        #expect(looks == 256 + 512 + 1_024)
    }
}
