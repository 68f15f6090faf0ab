import Nautilus
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@Suite("Pages: one ahead", .endsInTime)
struct PagePrefetchTests {
    @Test(
        "while a page is read, the next one comes",
        // A second for each of four pages, the last of them empty, and one for reading each of the others.
        arguments: [(false, .seconds(4 + 3)), (true, .seconds(1 + 3))] as [(Bool, Duration)]
    )
    func overlaps(isPrefetching: Bool, expected: Duration) async throws {
        try await simulate { simulation in
            let transport = Self.slow(simulation.clock, pages: 3)
            let service = PageService(transport: transport, clock: simulation.clock)
            for try await page in NumberedPages().pages(with: service, prefetching: isPrefetching)
            where !page.body.numbers.isEmpty {
                try await simulation.clock.sleep(for: .seconds(1))
            }
            #expect(simulation.clock.now.offset == expected)
            #expect(transport.count == 4)
        }
    }

    @Test("prefetching fetches one page ahead, never two", arguments: 0..<20 as Range<UInt64>)
    func oneAhead(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let transport = Self.slow(simulation.clock, pages: 5)
            let service = PageService(transport: transport, clock: simulation.clock)
            var read = 0
            for try await _ in NumberedPages().pages(with: service, prefetching: true) {
                read += 1
                try await simulation.clock.sleep(for: .seconds(60))
                #expect(transport.count == min(read + 1, 6))
                #expect(transport.inFlightCount == 0)
            }
            #expect(transport.maxInFlightCount == 1)
            #expect(read == 6)
        }
    }

    @Test("a reader that is cancelled gets no more, though it does not notice by itself", arguments: [true, false])
    func cancelledReader(isPrefetching: Bool) async throws {
        try await simulate { simulation in
            let transport = Self.slow(simulation.clock, pages: 500)
            let service = PageService(transport: transport, clock: simulation.clock)
            let (read, failure) = (Locked(0), Locked<HttpError?>(nil))
            let reader = BackgroundTask.start {
                do {
                    for try await _ in NumberedPages().pages(with: service, prefetching: isPrefetching) {
                        read.withLock { $0 += 1 }
                        // Longer than a page takes.
                        await BackgroundTask.start { try? await simulation.clock.sleep(for: .seconds(2)) }.value
                    }
                } catch {
                    failure.withLock { $0 = (error as? PageFailure)?.error }
                }
            }
            try await simulation.clock.sleep(for: .milliseconds(5_500))
            let (count, requests) = (read.withLock { $0 }, transport.count)
            reader.cancel()
            await reader.value
            #expect(failure.withLock { $0?.kind } == .cancelled)
            #expect(read.withLock { $0 } == count)
            #expect(transport.count == requests)
        }
    }

    @Test("leaving the loop cancels the page that is being prefetched", arguments: 0..<20 as Range<UInt64>)
    func leaving(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let transport = ScriptedTransport(
                .json(NumberPage(numbers: [1], next: "a")),
                .delay(.seconds(60), then: .json(NumberPage(numbers: [2]))),
                clock: simulation.clock
            )
            let service = PageService(transport: transport, clock: simulation.clock)
            for try await _ in CursorPages().pages(with: service, prefetching: true) {
                try await transport.waitForAttempts(count: 2)
                break
            }
            // Time does not pass before all that can end has ended.
            try await simulation.clock.sleep(for: .milliseconds(1))
            #expect(transport.inFlightCount == 0)
            guard case .cancelled? = transport.attempts.last?.outcome else {
                Issue.record("the page ahead should be cancelled")
                return
            }
        }
    }

    @Test("the page ahead keeps the deadline of the call around the reader")
    func deadline() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                .json(NumberPage(numbers: [1], next: "a")),
                .delay(.seconds(60), then: .json(NumberPage(numbers: [2]))),
                clock: simulation.clock
            )
            let paged = AnyHttpService(
                apiUrl: "api.example.com",
                transport: transport,
                clock: simulation.clock
            )
            let outer = AnyHttpService(
                apiUrl: "outer.example.com",
                transport: ScriptedTransport(clock: simulation.clock) { _, _ in
                    let pages = CursorPages().pages(with: paged, prefetching: true)
                    return .reply(text: "\(try await pages.all().count)")
                },
                clock: simulation.clock
            )
            do throws(HttpError) {
                _ = try await Ping(timeout: nil, deadline: .seconds(5)).schedule(with: outer)
                Issue.record("the deadline should pass")
            } catch {
                #expect(error.kind == .deadline(.seconds(5)))
            }
            #expect(simulation.clock.now.offset == .seconds(5))
            #expect(transport.inFlightCount == 0)
        }
    }

    /// Pages by number, a second each.
    private static func slow(_ clock: ManualClock, pages: Int) -> ScriptedTransport {
        ScriptedTransport(clock: clock) { request, _ in
            let page = request.query("page").flatMap { Int($0) } ?? 0
            return .delay(.seconds(1), then: .json(NumberPage(numbers: page <= pages ? [page] : [])))
        }
    }
}
