import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Pages of a list", .endsInTime)
struct PageSequenceTests {
    @Test("pages by number come in order and end with the first that is empty")
    func numbers() async throws {
        let transport = Self.numbered(pages: 3)
        let service = PageService(transport: transport)
        let pages = try await NumberedPages().pages(with: service).all()
        #expect(pages.map(\.body.numbers) == [[10, 11], [20, 21], [30, 31], []])
        #expect(transport.attempts.map { $0.request.query("page") } == ["1", "2", "3", "4"])
        #expect(pages.allSatisfy { $0.trace.attempts.count == 1 && $0.status == 200 })
    }

    @Test(
        "a page that says it is the last spares the request for an empty one, and an empty one is not the last by itself"
    )
    func counted() async throws {
        let transport = ScriptedTransport(
            .json(NumberPage(numbers: [1])),
            .json(NumberPage(numbers: [])),
            .json(NumberPage(numbers: [3], isLast: true))
        )
        let numbers = try await CountedPages().items(with: PageService(transport: transport)).all()
        #expect(numbers == [1, 3])
        #expect(transport.count == 3)
    }

    @Test("a number that cannot be raised is the last")
    func largestNumber() async throws {
        let transport = ScriptedTransport(.json(NumberPage(numbers: [1])))
        #expect(try await NumberedPages(page: .max).items(with: PageService(transport: transport)).all() == [1])
    }

    @Test("pages by cursor pass over empty ones and end without a cursor", arguments: [nil, ""] as [String?])
    func cursors(end: String?) async throws {
        let transport = ScriptedTransport(
            .json(NumberPage(numbers: [1, 2], next: "a/b c")),
            .json(NumberPage(numbers: [], next: "b")),
            .json(NumberPage(numbers: [], next: "c")),
            .json(NumberPage(numbers: [3], next: end))
        )
        let numbers = try await CursorPages().items(with: PageService(transport: transport)).all()
        #expect(numbers == [1, 2, 3])
        #expect(transport.attempts.map { $0.request.query("cursor") } == [nil, "a/b c", "b", "c"])
    }

    @Test("all items at once are an array, or the error of the page that failed")
    func collected() async throws {
        let service = PageService(transport: Self.numbered(pages: 2))
        #expect(try await NumberedPages().items(with: service).collected() == [10, 11, 20, 21])
        #expect(try await NumberedPages().items(with: service, pageLimit: 1).collected() == [10, 11])
        let broken = PageService(transport: ScriptedTransport(.json(NumberPage(numbers: [1])), .status(500)))
        do throws(PageFailure) {
            _ = try await NumberedPages().items(with: broken).collected()
            Issue.record("the second page has failed")
        } catch {
            #expect(error.error.status == 500)
        }
    }

    @Test("empty pages for ever end the wait for an item after a thousand", arguments: [false, true])
    func onlyEmptyPages(isPrefetching: Bool) async throws {
        let transport = ScriptedTransport { request, _ in
            let page = request.query("page").flatMap { Int($0) } ?? 0
            return .json(NumberPage(numbers: page == 1 ? [1] : []))
        }
        let service = PageService(transport: transport)
        var items = CountedPages().items(with: service, prefetching: isPrefetching).makeAsyncIterator()
        #expect(try await items.next() == 1)
        do throws(PageFailure) {
            _ = try await items.next()
            Issue.record("it should have come to an end")
        } catch {
            #expect(error.pagination == .onlyEmptyPages(count: 1_000))
            #expect("\(error.error)".contains("read pages(with:)"))
        }
        #expect(try await items.next() == nil)
        // One page is on its way when another one is ahead.
        #expect((1_001...(isPrefetching ? 1_002 : 1_001)).contains(transport.count))
    }

    @Test("a thousand empty pages are passed over where something follows, or nothing", arguments: [999, 1_000])
    func manyEmptyPages(count: Int) async throws {
        let transport = ScriptedTransport { request, _ in
            let page = request.query("page").flatMap { Int($0) } ?? 0
            // At 999 an item comes after them; the thousandth is the last.
            return .json(NumberPage(numbers: page == 1_000 && count == 999 ? [7] : [], isLast: page == 1_000))
        }
        let numbers = try await CountedPages().items(with: PageService(transport: transport)).all()
        #expect(numbers == (count == 999 ? [7] : []))
        #expect(transport.count == 1_000)
    }

    @Test("a cursor may be in the body")
    func search() async throws {
        let transport = ScriptedTransport(
            .json(NumberPage(numbers: [1], next: "a")),
            .json(NumberPage(numbers: [2], next: "b")),
            .json(NumberPage(numbers: [3]))
        )
        #expect(try await SearchPages().items(with: PageService(transport: transport)).all() == [1, 2, 3])
        #expect(Set(transport.attempts.compactMap(\.body)).count == 3)
    }

    @Test("nothing is asked for before somebody waits, and not more than was waited for")
    func lazy() async throws {
        let transport = Self.numbered(pages: 9)
        let pages = NumberedPages().pages(with: PageService(transport: transport))
        var iterator = pages.makeAsyncIterator()
        #expect(transport.count == 0)
        _ = try await iterator.next()
        _ = try await iterator.next()
        #expect(transport.count == 2)
        for try await number in NumberedPages().items(with: PageService(transport: transport)) where number == 21 {
            break
        }
        #expect(transport.count == 4)
    }

    @Test("pages and items are read on an actor, in a loop and by hand")
    @MainActor func onActor() async throws {
        let service = PageService(transport: Self.numbered(pages: 2))
        var numbers: [Int] = []
        for try await number in NumberedPages().items(with: service) { numbers.append(number) }
        var items = NumberedPages().items(with: service).makeAsyncIterator()
        while let number = try await items.next() { numbers.append(number) }
        #expect(numbers == [10, 11, 20, 21, 10, 11, 20, 21])
    }

    @Test("every reader begins with the first page")
    func readers() async throws {
        let transport = Self.numbered(pages: 1)
        let pages = NumberedPages().pages(with: PageService(transport: transport))
        #expect(try await pages.all().count == 2)
        #expect(try await pages.all().count == 2)
        #expect(transport.count == 4)
    }

    @Test(
        "a limit ends the pages, and none beyond it is asked for",
        arguments: [(-1, 0), (0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 4)],
        [false, true]
    )
    func limit(limit: (pages: Int, expected: Int), isPrefetching: Bool) async throws {
        let transport = Self.numbered(pages: 3)
        let service = PageService(transport: transport)
        let pages = NumberedPages().pages(with: service, pageLimit: limit.pages, prefetching: isPrefetching)
        #expect(try await pages.all().count == limit.expected)
        #expect(transport.count == limit.expected)
    }

    @Test("each page is a call of its own, with its own retrier and its own attempts")
    func retriers() async throws {
        try await simulate { simulation in
            let created = Counter()
            let transport = ScriptedTransport(
                .status(503),
                .json(NumberPage(numbers: [1], next: "a")),
                .status(503),
                .status(503),
                .json(NumberPage(numbers: [2])),
                clock: simulation.clock
            )
            let backoff = steadyBackoff(maxAttempts: 3)
            var service = PageService(transport: transport, clock: simulation.clock)
            service.retrierFactory = AnyRetrierFactory { request in
                created.increment()
                return backoff.create(for: request)
            }
            let pages = try await CursorPages().pages(with: service).all()
            #expect(pages.map(\.trace.attempts.count) == [2, 3])
            #expect(created.value == 2)
            #expect(simulation.clock.now.offset == .seconds(0.5 + 0.5 + 1))
        }
    }

    @Test("a failed page throws the service's own error, typed, and then comes nothing more", arguments: [false, true])
    func failure(isPrefetching: Bool) async throws {
        let transport = ScriptedTransport(.json(NumberPage(numbers: [1], next: "a")), .status(404))
        let pages = CursorPages().pages(with: PageService(transport: transport), prefetching: isPrefetching)
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next()?.body.numbers == [1])
        do throws(PageFailure) {
            _ = try await iterator.next()
            Issue.record("the second page should fail")
        } catch {
            #expect(error.error.kind == .status(404))
        }
        #expect(try await iterator.next() == nil)
        #expect(transport.count == 2)
    }

    @Test("a loop over pages or items throws the service's own error")
    func failureInLoop() async throws {
        let transport = ScriptedTransport(.status(404), afterLast: .repeat)
        let service = PageService(transport: transport)
        await #expect(throws: PageFailure.self) {
            for try await _ in NumberedPages().pages(with: service) {}
        }
        #if !canImport(Darwin)
            // Typed in a loop as well, where the standard library has it whatever the system.
            do throws(PageFailure) {
                for try await _ in NumberedPages().items(with: service) {}
                Issue.record("the first page should fail")
            } catch {
                #expect(error.error.status == 404)
            }
        #endif
    }

    @Test("an error of a custom pagination surfaces after its page")
    func failingNext() async throws {
        let transport = ScriptedTransport(.json([1]))
        var iterator = FailingPages().pages(with: PageService(transport: transport)).makeAsyncIterator()
        #expect(try await iterator.next()?.body == [1])
        do throws(PageFailure) {
            _ = try await iterator.next()
            Issue.record("the way on should fail")
        } catch {
            #expect(error.error.kind == .custom)
            #expect(error.error.underlying is FailingPages.Failure)
            #expect(error.error.delivery == .notSent)
            #expect(error.error.request?.description == "GET https://api.example.com/v1")
        }
        #expect(try await iterator.next() == nil)
    }

    @Test("a reader that is cancelled at the moment of the answer gets no page")
    func cancelledAtTheAnswer() async throws {
        for seed in 0..<50 as Range<UInt64> {
            let count = try await simulate(seed: seed) { simulation in
                let clock = simulation.clock
                let transport = ScriptedTransport(clock: clock) { _, _ in
                    .delay(.seconds(1), then: .json(NumberPage(numbers: [1])))
                }
                let service = AnyHttpService<HttpError>(apiUrl: "a.com", transport: transport, clock: clock)
                let (isCancelled, late) = (Locked(false), Locked(0))
                let reader = BackgroundTask.start {
                    var pages = NumberedPages().pages(with: service).makeAsyncIterator()
                    while (try? await pages.next()) != nil {
                        if isCancelled.withLock({ $0 }) { late.withLock { $0 += 1 } }
                    }
                }
                try await clock.sleep(for: .seconds(1))
                isCancelled.withLock { $0 = true }
                reader.cancel()
                await reader.value
                return late.withLock { $0 }
            }
            try #require(count == 0, "seed \(seed)")
        }
    }

    @Test("cancelling the reader cancels the page's call", arguments: [false, true])
    func cancellation(isPrefetching: Bool) async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                .json(NumberPage(numbers: [1], next: "a")),
                .hang,
                clock: simulation.clock
            )
            let service = PageService(transport: transport, clock: simulation.clock)
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    let count = Counter()
                    do {
                        try await CursorPages().pages(with: service, prefetching: isPrefetching).count(into: count)
                        Issue.record("the second page should be cancelled")
                    } catch let error as PageFailure {
                        #expect(error.error.kind == .cancelled)
                    }
                    return count.value
                }
                try await transport.waitForAttempts(count: 2)
                group.cancelAll()
                #expect(try await group.next() == 1)
            }
            #expect(transport.count == 2)
            #expect(transport.inFlightCount == 0)
        }
    }

    /// Numbers 10, 11 on page 1, 20, 21 on page 2, …; nothing behind the last.
    static func numbered(pages: Int) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let page = request.query("page").flatMap { Int($0) } ?? 0
            return .json(NumberPage(numbers: page <= pages ? [page * 10, page * 10 + 1] : []))
        }
    }
}
