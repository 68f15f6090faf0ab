import Foundation
import Testing

@testable import Nautilus

@Suite("Connections are given out origin by origin")
struct ConnectionLinesTests {
    private let slow = HttpOrigin(URL(string: "http://slow.example.com") ?? URL(fileURLWithPath: ""))
    private let quick = HttpOrigin(URL(string: "http://quick.example.com") ?? URL(fileURLWithPath: ""))

    @Test("an origin that is full leaves the others their connections")
    func independent() throws {
        let (slow, quick) = (try #require(slow), try #require(quick))
        var lines = ConnectionLines<Int>(limit: 2)
        let entered = (0..<4).map { lines.enter(slow, $0, priority: .normal) }
        #expect(entered == [true, true, false, false])
        let isQuickConnected = lines.enter(quick, 9, priority: .low)
        #expect(isQuickConnected)
    }

    @Test("the more urgent go first, the others in their order, and nobody who has left")
    func order() throws {
        let origin = try #require(slow)
        var lines = ConnectionLines<String>(limit: 1)
        _ = lines.enter(origin, "first", priority: .low)
        for (name, priority) in [("a", .normal), ("low", .low), ("b", .normal), ("gone", .high), ("high", .high)]
            as [(String, RequestPriority)]
        {
            let isConnected = lines.enter(origin, name, priority: priority)
            #expect(!isConnected)
        }
        lines.forget(origin) { $0 == "gone" }
        let served = (0..<5).map { _ in lines.leave(origin) }
        #expect(served == ["high", "a", "b", "low", nil])
        let isNextConnected = lines.enter(origin, "next", priority: .normal)
        #expect(isNextConnected)
    }

    @Test("a limit of nothing is one")
    func noLimit() throws {
        let origin = try #require(slow)
        var lines = ConnectionLines<Int>(limit: 0)
        let entered = (1...2).map { lines.enter(origin, $0, priority: .normal) }
        #expect(entered == [true, false])
        let served = (0..<3).map { _ in lines.leave(origin) }
        #expect(served == [2, nil, nil])
    }
}
