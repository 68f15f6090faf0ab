import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusPages

@Suite("Pages: circles, and memory", .endsInTime)
struct PageLoopTests {
    @Test("a cursor that leads back is an error that says what to do, after the page that has it")
    func cursors() async throws {
        // The place that each page leads to, in order; the last leads back.
        for (cursors, page) in [(["a", "a"], 2), (["a", "b", "a"], 3), (["a", "b", "c", "c"], 4)] {
            let transport = ScriptedTransport { request, _ in
                let place = request.query("cursor").flatMap(cursors.firstIndex) ?? -1
                return .json(NumberPage(numbers: [place], next: cursors[place + 1]))
            }
            let count = Counter()
            do {
                try await CursorPages().pages(with: PageService(transport: transport)).count(into: count)
                Issue.record("the circle should be found")
            } catch let error as PageFailure {
                #expect(error.pagination == .loop(page: page))
                #expect("\(error.error)".contains("check that its pagination takes the place of the next page"))
            }
            #expect(count.value == page)
            #expect(transport.count == page, "what has been read is not asked for again")
        }
    }

    @Test(
        "a link that leads back, or to its own page, is found",
        arguments: ["/v1/numbers?filter=odd", "/2#again", "/2"]
    )
    func links(link: String) async throws {
        let transport = ScriptedTransport(
            .json([1], header: ["Link": "</2>; rel=next"]),
            .json([2], header: ["Link": "<\(link)>; rel=next"])
        )
        do {
            _ = try await LinkedPages().items(with: PageService(transport: transport)).all()
            Issue.record("the circle should be found")
        } catch let error as PageFailure {
            #expect(error.pagination == .loop(page: 2))
        }
        #expect(transport.count == 2)
    }

    @Test("a cursor in the body that leads back is found")
    func bodies() async throws {
        let transport = ScriptedTransport(
            .json(NumberPage(numbers: [1], next: "a")),
            .json(NumberPage(numbers: [2], next: "a"))
        )
        do {
            _ = try await SearchPages().items(with: PageService(transport: transport)).all()
            Issue.record("the circle should be found")
        } catch let error as PageFailure {
            #expect(error.pagination == .loop(page: 2))
        }
    }

    @Test("a circle is found ahead as well, and no third page asked for")
    func prefetched() async throws {
        let transport = ScriptedTransport(.json(NumberPage(numbers: [1], next: "a")), afterLast: .repeat)
        var pages = CursorPages().pages(with: PageService(transport: transport), prefetching: true).makeAsyncIterator()
        _ = try await pages.next()
        _ = try await pages.next()
        do throws(PageFailure) {
            _ = try await pages.next()
            Issue.record("the circle should be found")
        } catch {
            #expect(error.pagination == .loop(page: 2))
        }
        #expect(transport.count == 2)
    }

    @Test(
        "a circle that fits into the window is found at its first repetition",
        arguments: [0, 1, 7, 2_000],
        [1, 2, 1_023, 1_024]
    )
    func exactly(lead: Int, length: Int) {
        var loops = PageLoops()
        let found = (0..<100_000).first { loops.visit($0 < lead ? $0 : lead + ($0 - lead) % length) }
        #expect(found == lead + length)
    }

    @Test(
        "a larger circle is found within three times its pages and those before it",
        arguments: [0, 1, 2_000],
        [1_025, 3_000]
    )
    func eventually(lead: Int, length: Int) {
        var loops = PageLoops()
        let found = (0...3 * (lead + length)).first { loops.visit($0 < lead ? $0 : lead + ($0 - lead) % length) }
        #expect((lead + length...3 * (lead + length)).contains(found ?? 0))
    }

    @Test("no two of many different pages are taken for one")
    func different() {
        var loops = PageLoops()
        #expect((0..<5_000).allSatisfy { !loops.visit($0) })
        #expect(loops.memory == PageLoops.window)
    }

    @Test("ten thousand pages are read with one in memory, and one more when one is ahead", arguments: [false, true])
    func tenThousand(isPrefetching: Bool) async throws {
        let live = LiveCount()
        let request = LivePages(live: live)
        let service = PageService(transport: EndlessPages(count: 10_000))
        var items = 0
        for try await item in request.items(with: service, prefetching: isPrefetching) {
            items += 1
            #expect(item.number == items)
        }
        #expect(items == 20_000)
        // The items that are being read, and one page ahead, each of two items.
        #expect(live.most <= (isPrefetching ? 4 : 2))
        #expect(live.now == 0)
    }
}

/// Counts objects that are alive.
private final class LiveCount: Sendable {
    private let counts = Locked((now: 0, most: 0))
    var now: Int { counts.withLock { $0.now } }
    var most: Int { counts.withLock { $0.most } }

    func add(_ change: Int) {
        counts.withLock { counts in
            counts.now += change
            counts.most = max(counts.most, counts.now)
        }
    }
}

/// An item that is counted while it is alive.
private final class LiveItem: Sendable {
    let number: Int
    private let live: LiveCount

    init(number: Int, live: LiveCount) {
        self.number = number
        self.live = live
        live.add(1)
    }

    deinit {
        live.add(-1)
    }
}

private struct LivePages: PaginatedRequest {
    typealias Result = [LiveItem]
    let live: LiveCount
    var cursor = 0
    var route: HttpRoute { [] }
    var query: HttpQuery { ["cursor": cursor] }

    func decode(_ data: Data) throws -> [LiveItem] {
        let page = Int(String(decoding: data, as: UTF8.self)) ?? 0
        return (1...2).map { LiveItem(number: page * 2 + $0, live: live) }
    }

    var pagination: Pagination<Self> { .number(\.cursor) { $0.header["X-Last"] != nil } }
}

/// A transport that remembers nothing.
private struct EndlessPages: HttpTransport {
    let count: Int

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let cursor = request.query("cursor").flatMap { Int($0) } ?? 0
        return HttpResponse(header: cursor + 1 == count ? ["X-Last": "1"] : [:], body: Data("\(cursor)".utf8))
    }
}
