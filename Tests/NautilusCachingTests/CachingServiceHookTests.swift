import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("CachingServiceHook", .endsInTime)
struct CachingServiceHookTests {
    private struct GetNote: Request, Hashable {
        typealias Result = String
        var id = 1
        var method: HttpMethod = .get
        var route: HttpRoute { ["notes", id] }
    }

    private struct GetNumber: Request, Hashable {
        typealias Result = Int
        var id = 1
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> Int { data.count }
    }

    private struct World: Sendable {
        let clock: ManualClock
        let transport: ScriptedTransport
        let hook: CachingServiceHook
        let service: AnyHttpService<HttpError>
        let account = Locked<String?>("anna")

        init(clock: ManualClock = ManualClock(), maxCount: Int = 100, delay: Duration = .zero) {
            let count = Counter()
            self.clock = clock
            transport = ScriptedTransport(clock: clock) { _, _ in
                let reply = ScriptedReply.reply(text: "answer \(count.increment())")
                return delay > .zero ? .delay(delay, then: reply) : reply
            }
            let hook = CachingServiceHook(
                for: .seconds(60),
                maxCount: maxCount,
                account: { [account] in account.withLock { $0 } },
                clock: clock
            )
            self.hook = hook
            service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: clock).with {
                $0.hook = hook
            }
        }

        func get<R: Request>(_ request: R) async throws -> R.Result { try await request.schedule(with: service) }
    }

    @Test("a result is good for its time and not a second longer, and an answer needs no attempt")
    func timeToLive() async throws {
        let world = World()
        #expect(try await world.get(GetNote()) == "answer 1")
        world.clock.advance(by: .seconds(60) - .nanoseconds(1))
        let response = try await GetNote().response(with: world.service)
        #expect((response.body, response.trace.attempts.count) == ("answer 1", 0))
        world.clock.advance(by: .nanoseconds(1))
        #expect(try await world.get(GetNote()) == "answer 2")
    }

    @Test("requests are told apart by type and value")
    func keys() async throws {
        let world = World()
        #expect(try await world.get(GetNote(id: 1)) == "answer 1")
        #expect(try await world.get(GetNote(id: 2)) == "answer 2")
        #expect(try await world.get(GetNumber(id: 1)) == 8)
        #expect(try await world.get(GetNote(id: 1)) == "answer 1")
        #expect(try await world.get(GetNumber(id: 1)) == 8)
        #expect(world.transport.count == 3)
    }

    @Test("the hook never answers a request that is not Hashable or may change something")
    func notCached() async throws {
        let world = World()
        for _ in 1...2 { _ = try await world.get(Ping.get) }
        for _ in 1...2 { _ = try await world.get(GetNote(method: .put)) }
        #expect((world.transport.count, world.hook.count) == (4, 0))
    }

    @Test("environments do not share, also where only their paths differ")
    func environments() async throws {
        let world = World()
        #expect(try await world.get(GetNote()) == "answer 1")
        for (url, answer) in [("api.example.com/staging", 2), ("staging.example.com", 3), ("api.example.com", 1)] {
            let other = world.service.with { $0.apiUrl = url }
            #expect(try await GetNote().schedule(with: other) == "answer \(answer)")
        }
    }

    @Test("accounts do not share, and nobody signed in has nothing")
    func accounts() async throws {
        let world = World()
        #expect(try await world.get(GetNote()) == "answer 1")
        world.account.withLock { $0 = "bert" }
        #expect(try await world.get(GetNote()) == "answer 2")
        world.account.withLock { $0 = nil }
        #expect(try await world.get(GetNote()) == "answer 3")
        #expect(try await world.get(GetNote()) == "answer 4")
        world.account.withLock { $0 = "anna" }
        #expect(try await world.get(GetNote()) == "answer 1")
    }

    @Test("a call that was begun in one account leaves nothing to the next, though that asks for the same meanwhile")
    func changedMeanwhile() async throws {
        try await simulate { simulation in
            let world = World(clock: simulation.clock, delay: .seconds(2))
            async let annas = world.get(GetNote())
            try await simulation.clock.sleep(for: .seconds(1))
            world.account.withLock { $0 = "bert" }
            async let berts = world.get(GetNote())
            #expect(try await (annas, berts) == ("answer 1", "answer 2"))
            #expect(world.hook.count == 1)
            #expect(try await world.get(GetNote()) == "answer 2")
        }
    }

    @Test("the result of a call that began while nobody was signed in is not remembered for a later user")
    func begunByNobody() async throws {
        try await simulate { simulation in
            let world = World(clock: simulation.clock, delay: .seconds(2))
            world.account.withLock { $0 = nil }
            async let nobodys = world.get(GetNote())
            try await simulation.clock.sleep(for: .seconds(1))
            world.account.withLock { $0 = "anna" }
            #expect(try await nobodys == "answer 1")
            #expect(world.hook.count == 0)
        }
    }

    @Test("a call that began before the hook was there is none of its business")
    func unknown() async throws {
        let world = World()
        #expect(try await world.hook.onSchedule(GetNote()) == nil)
        await world.hook.onSuccess(GetNote(), response: HttpResponse(status: 200, body: "unknown"))
        #expect(world.hook.count == 0)
    }

    @Test("a failure is not remembered")
    func failure() async throws {
        let world = World()
        let transport = ScriptedTransport(.status(500), .reply(text: "well"))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport).with { $0.hook = world.hook }
        await #expect(throws: HttpError.self) { try await GetNote().schedule(with: service) }
        #expect(try await GetNote().schedule(with: service) == "well")
        #expect(try await GetNote().schedule(with: service) == "well")
        #expect(transport.count == 2)
    }

    @Test("a removed result is requested again, and a call under way at the removal is not remembered")
    func removal() async throws {
        try await simulate { simulation in
            let world = World(clock: simulation.clock, delay: .seconds(2))
            _ = try await (world.get(GetNote(id: 1)), world.get(GetNote(id: 2)), world.get(GetNumber()))
            world.hook.remove(GetNote(id: 1))
            #expect(world.hook.count == 2)
            world.hook.removeAll(of: GetNote.self)
            #expect(world.hook.count == 1)
            async let old = world.get(GetNote(id: 1))
            try await simulation.clock.sleep(for: .seconds(1))
            world.hook.removeAll()
            _ = try await old
            #expect(world.hook.count == 0)
        }
    }

    @Test("the pages of a list, which belong to one account, are told apart")
    func pages() async throws {
        struct ListNotes: PaginatedRequest, Hashable {
            typealias Result = String
            var page = 1
            var route: HttpRoute { ["notes"] }
            var query: HttpQuery { ["page": page] }
            func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
            func items(of page: String) -> [String] { [page] }
            var pagination: Pagination<Self> { .number(\.page) }
        }
        let world = World()
        for _ in 1...2 {
            var items: [String] = []
            for try await item in ListNotes().items(with: world.service, pageLimit: 3) { items.append(item) }
            #expect(items == ["answer 1", "answer 2", "answer 3"])
        }
        #expect(world.transport.count == 3)
    }

    @Test("the hook's description shows neither a result nor an account")
    func redaction() async throws {
        let world = World()
        _ = try await world.get(GetNote())
        var text = "\(world.hook)"
        dump(world.hook, to: &text)
        #expect(text.contains("1 results"))
        #expect(!text.contains("answer") && !text.contains("anna"))
    }

    @Test("the number of results is bounded: the one that was not used for longest goes")
    func bound() async throws {
        let world = World(maxCount: 2)
        for id in [1, 2, 1, 3] { _ = try await world.get(GetNote(id: id)) }
        #expect((world.transport.count, world.hook.count) == (3, 2))
        _ = try await world.get(GetNote(id: 1))
        #expect(world.transport.count == 3)
        _ = try await world.get(GetNote(id: 2))
        #expect(world.transport.count == 4)
    }

    @Test("calls that miss at the same time are all sent; with coalescing behind them, one is")
    func concurrentMisses() async throws {
        try await simulate { simulation in
            for isCoalesced in [false, true] {
                let world = World(clock: simulation.clock, delay: .seconds(1))
                let service = AnyHttpService(
                    apiUrl: "api.example.com",
                    interceptors: isCoalesced ? [RequestCoalescing()] : [],
                    transport: world.transport,
                    clock: simulation.clock
                ).with { $0.hook = world.hook }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 { group.addTask { _ = try await GetNote().schedule(with: service) } }
                    try await group.waitForAll()
                }
                #expect(world.transport.count == (isCoalesced ? 1 : 10))
                #expect(world.hook.count == 1)
            }
        }
    }
}
