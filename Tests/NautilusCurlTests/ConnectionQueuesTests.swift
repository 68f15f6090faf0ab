import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Connection queues by origin")
struct ConnectionQueuesTests {
    private let slow = HttpOrigin(URL(string: "http://slow.example.com") ?? URL(fileURLWithPath: ""))
    private let quick = HttpOrigin(URL(string: "http://quick.example.com") ?? URL(fileURLWithPath: ""))

    @Test("an origin that is full leaves the others their connections")
    func independent() throws {
        let (slow, quick) = (try #require(slow), try #require(quick))
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 2)
        let entered = (0..<4).map { queues.enter(slow, NamedWaiter("\($0)"), priority: .normal) }
        #expect(entered == [true, true, false, false])
        let isQuickConnected = queues.enter(quick, NamedWaiter("9"), priority: .low)
        #expect(isQuickConnected)
    }

    @Test("the more urgent go first, the others in their order, and nobody who has left")
    func order() throws {
        let origin = try #require(slow)
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 1)
        _ = queues.enter(origin, NamedWaiter("first"), priority: .low)
        for (name, priority) in [("a", .normal), ("low", .low), ("b", .normal), ("gone", .high), ("high", .high)]
            as [(String, HttpRequest.Priority)]
        {
            let isConnected = queues.enter(origin, NamedWaiter(name), priority: priority)
            #expect(!isConnected)
        }
        queues.forget(origin, "gone")
        let served = (0..<5).map { _ in queues.leave(origin)?.id }
        #expect(served == ["high", "a", "b", "low", nil])
        let isNextConnected = queues.enter(origin, NamedWaiter("next"), priority: .normal)
        #expect(isNextConnected)
    }

    @Test("an origin is forgotten when its last connection comes back, and not before")
    func forgotten() throws {
        let (slow, quick) = (try #require(slow), try #require(quick))
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 1)
        for name in ["first", "second"] { _ = queues.enter(slow, NamedWaiter(name), priority: .normal) }
        _ = queues.enter(quick, NamedWaiter("other"), priority: .normal)
        var counts: [Int] = []
        for origin in [quick, slow, slow] {
            _ = queues.leave(origin)
            counts.append(queues.originCount)
        }
        #expect(counts == [1, 1, 0])
    }

    @Test("a limit for all origins gives the next connection to the most urgent, and then to the first of any")
    func total() throws {
        let (slow, quick) = (try #require(slow), try #require(quick))
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 2, total: 3)
        let arrivals: [(HttpOrigin, NamedWaiter, HttpRequest.Priority)] = [
            (slow, NamedWaiter("s1"), .normal), (slow, NamedWaiter("s2"), .normal), (slow, NamedWaiter("s3"), .normal),
            (quick, NamedWaiter("q1"), .normal),
            (quick, NamedWaiter("q2"), .normal), (quick, NamedWaiter("urgent"), .high),
        ]
        let entered = arrivals.map { queues.enter($0, $1, priority: $2) }
        #expect(entered == [true, true, false, true, false, false])
        let served = [slow, quick, slow, slow, quick].map { queues.leave($0)?.id }
        #expect(served == ["urgent", "s3", "q2", nil, nil])
        let isConnected = queues.enter(slow, NamedWaiter("s4"), priority: .low)
        #expect(isConnected)
    }

    @Test("a connection that another origin gives back goes past an origin that has as many as it may, however urgent")
    func ownLimit() throws {
        let (slow, quick) = (try #require(slow), try #require(quick))
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 2, total: 3)
        let arrivals: [(HttpOrigin, NamedWaiter, HttpRequest.Priority)] = [
            (slow, NamedWaiter("s1"), .normal), (slow, NamedWaiter("s2"), .normal), (quick, NamedWaiter("q1"), .normal),
            (slow, NamedWaiter("s3"), .high), (quick, NamedWaiter("q2"), .low),
        ]
        let entered = arrivals.map { queues.enter($0, $1, priority: $2) }
        #expect(entered == [true, true, true, false, false])
        let served = [quick, slow].map { queues.leave($0)?.id }
        #expect(served == ["q2", "s3"])
    }

    @Test("a connection limit of nothing counts as one")
    func noLimit() throws {
        let origin = try #require(slow)
        var queues = ConnectionQueues<HttpOrigin, NamedWaiter>(limit: 0)
        let entered = (1...2).map { queues.enter(origin, NamedWaiter("\($0)"), priority: .normal) }
        #expect(entered == [true, false])
        let served = (0..<3).map { _ in queues.leave(origin)?.id }
        #expect(served == ["2", nil, nil])
    }
}
