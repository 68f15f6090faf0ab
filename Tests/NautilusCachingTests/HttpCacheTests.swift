import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpCache", .endsInTime)
struct HttpCacheTests {
    @Test("a fresh answer is given without an exchange, with its age; the trace says so, and there is no URL")
    func hit() async throws {
        let world = CacheWorld.answering(.reply(header: ["Cache-Control": "max-age=60"], text: "one"))
        #expect(await world.get() == "200 one")
        world.advance(59)
        #expect(await world.get() == "200 one age 59")
        let response = try await Ping.get.response(with: world.service)
        #expect(response.url == nil)
        #expect(response.trace.attempts.map(\.source) == [.interceptor(serverStatus: nil)])
        #expect(response.trace.description.hasSuffix("200 after 0 ms, an interceptor, nothing was sent"))
        #expect(world.transport.count == 1)
    }

    @Test("C6: a list that is paged by a field of the header goes on after a page from the cache")
    func pagedByHeader() async throws {
        let world = CacheWorld { request, _ in
            let isFirst = request.url.query == nil
            var header: HttpHeader = ["Cache-Control": "max-age=60"]
            header["X-Next-Page-Token"] = isFirst ? "7" : nil
            return .reply(header: header, text: isFirst ? "[1, 2]" : "[3]")
        }
        for _ in 1...2 {
            var items: [Int] = []
            for try await item in TokenPages().items(with: world.service) { items.append(item) }
            #expect(items == [1, 2, 3])
            #expect(world.transport.count == 2)
        }
    }

    @Test("a stale answer is validated: a 304 renews it, and the caller gets the stored body with its 200")
    func validation() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X-Version": "1"], text: "one"),
            .status(
                304,
                header: ["Cache-Control": "max-age=10", "ETag": "\"1\"", "X-Version": "2", "Content-Length": "0"]
            )
        )
        #expect(await world.get() == "200 one")
        world.advance(60)
        let response = try await Ping.get.response(with: world.service)
        #expect((response.status, response.body, response.header["X-Version"]) == (200, "one", "2"))
        #expect(response.header["Content-Length"] == nil)
        #expect(response.url?.absoluteString == "https://api.example.com/things")
        #expect(response.trace.attempts.map(\.source) == [.interceptor(serverStatus: 304)])
        #expect(response.trace.description.hasSuffix("200 after 0 ms, stored; the server answered 304"))
        #expect(world.sentTags == ["-", "\"1\""])
        world.advance(9)
        #expect(await world.get() == "200 one age 9")
        #expect(world.transport.count == 2)
    }

    @Test("without an entity tag the date of the last change is the condition")
    func lastModified() async throws {
        let modified = httpDate(-100)
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "Last-Modified": modified], text: "one"),
            .status(304)
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 one age 0")
        #expect(world.transport.attempts.map { $0.header["If-Modified-Since"] } == [nil, modified])
    }

    @Test("a full answer to a validation replaces what was stored")
    func replaced() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "ETag": "\"1\""], text: "one"),
            .reply(header: ["Cache-Control": "max-age=60", "ETag": "\"2\""], text: "two")
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 two")
        #expect(await world.get() == "200 two age 0")
        #expect(world.cache.responseCount == 1)
    }

    @Test("a full answer that must not be stored has the old one forgotten")
    func replacedByNothing() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1, stale-if-error=60", "ETag": "\"1\""], text: "one"),
            .reply(header: ["Cache-Control": "no-store"], text: "two"),
            .status(503)
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 two")
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "status 503")
    }

    @Test(
        "a 304 about another entity tag is not taken for the stored one: the server is asked again without a condition"
    )
    func foreignValidation() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "ETag": "\"1\""], text: "one"),
            .status(304, header: ["ETag": "\"2\""]),
            .reply(header: ["Cache-Control": "max-age=60", "ETag": "\"2\""], text: "two")
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 two")
        #expect(world.sentTags == ["-", "\"1\"", "-"])
    }

    @Test("a 304 with a weak form of the tag is about the stored one")
    func weakTag() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=1", "ETag": "\"1\""], text: "one"),
            .status(304, header: ["ETag": "W/\"1\""])
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get() == "200 one age 0")
    }

    @Test("a request whose answer must not be stored leaves what is stored as it is, renewed or replaced")
    func noStore() async throws {
        let world = CacheWorld.answering(
            .reply(header: ["Cache-Control": "max-age=60", "ETag": "\"1\""], text: "one"),
            .status(304),
            .reply(header: ["Cache-Control": "max-age=60", "ETag": "\"2\""], text: "two")
        )
        #expect(await world.get() == "200 one")
        world.advance(9)
        #expect(await world.get(["Cache-Control": "no-store"]) == "200 one age 0")
        #expect(await world.get(["Cache-Control": "no-store"]) == "200 two")
        #expect(await world.get() == "200 one age 9")
        #expect(world.transport.count == 3)
    }

    @Test("a 304 without a date or an age is as old as its receipt, not as what it renews")
    func undatedValidation() async throws {
        let world = CacheWorld.answering(
            .reply(
                header: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Date": httpDate(0), "Age": "50"],
                text: "one"
            ),
            .status(304)
        )
        #expect(await world.get() == "200 one age 50")
        world.advance(10)
        #expect(await world.get() == "200 one age 0")
        world.advance(59)
        #expect(await world.get() == "200 one age 59")
        #expect(world.transport.count == 2)
    }

    @Test("a stored response needs equal values of the fields in Vary, and each value has its own response")
    func vary() async throws {
        let world = CacheWorld { request, _ in
            let language = request.header["Accept-Language"] ?? "none"
            return .reply(header: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], text: language)
        }
        for language in ["de", "en", "de", "en"] {
            #expect(await world.get(["Accept-Language": language]).hasPrefix("200 \(language)"))
        }
        #expect(await world.get() == "200 none")
        #expect(await world.get() == "200 none age 0")
        #expect(world.transport.count == 3)
        #expect(world.cache.responseCount == 3)
    }

    @Test("a redirect's answer is not stored under the URL that led to it")
    func redirected() async throws {
        let world = CacheWorld { request, _ in
            request.url.path == "/things"
                ? .status(302, header: ["Location": "/elsewhere"])
                : .reply(header: ["Cache-Control": "max-age=60"], text: "elsewhere")
        }
        #expect(await world.get() == "200 elsewhere")
        #expect(await world.get() == "200 elsewhere")
        #expect(world.transport.count == 4)
        #expect(world.cache.responseCount == 0)
    }

    @Test("HEAD is answered by what a GET has left, without its body")
    func head() async throws {
        let world = CacheWorld.answering(.reply(header: ["Cache-Control": "max-age=60"], text: "one"))
        #expect(await world.get() == "200 one")
        #expect(await world.get(method: .head) == "200 age 0")
        #expect(world.transport.count == 1)
    }

    @Test(
        "the answer to a HEAD renews what is stored when it describes it, and has it forgotten when it does not",
        arguments: [
            (["ETag": "\"1\"", "Content-Length": "3", "Cache-Control": "max-age=60"], 1),
            (["ETag": "\"2\"", "Content-Length": "3", "Cache-Control": "max-age=60"], 0),
            (["ETag": "\"1\"", "Content-Length": "4", "Cache-Control": "max-age=60"], 0),
            (["Last-Modified": httpDate(-10), "Cache-Control": "max-age=60"], 1),
            (["Last-Modified": httpDate(-9), "Cache-Control": "max-age=60"], 0),
            (["ETag": "\"1\"", "Last-Modified": httpDate(-9), "Cache-Control": "max-age=60"], 0),
        ] as [(HttpHeader, Int)]
    )
    func headCompares(answer: HttpHeader, stored: Int) async throws {
        let world = CacheWorld.answering(
            .reply(
                header: ["Cache-Control": "max-age=1", "ETag": "\"1\"", "Last-Modified": httpDate(-10)],
                text: "one"
            ),
            .status(200, header: answer)
        )
        #expect(await world.get() == "200 one")
        world.advance(1)
        #expect(await world.get(method: .head) == "200")
        #expect(world.sentTags == ["-", "-"])
        #expect(world.cache.responseCount == stored)
        if stored == 1 { #expect(await world.get() == "200 one age 0") }
    }

    @Test("parts and conditional requests of the caller are neither answered nor stored")
    func passedThrough() async throws {
        let world = CacheWorld.answering(
            .reply(status: 206, header: ["Cache-Control": "max-age=60"], text: "o"),
            .reply(header: ["Cache-Control": "max-age=60"], text: "one"),
            .status(304)
        )
        #expect(await world.get(["Range": "bytes=0-0"]) == "206 o")
        #expect(world.cache.responseCount == 0)
        #expect(await world.get() == "200 one")
        #expect(await world.get(["If-None-Match": "\"1\""]) == "status 304")
        #expect(world.transport.count == 3)
    }

    @Test(
        "a request for nothing but what is stored fails at once, unsent and with a 504, and no retrier repeats it"
    )
    func onlyIfCached() async throws {
        let world = CacheWorld(retrier: steadyBackoff()) { _, _ in .status(204) }
        do {
            _ = try await Ping(header: ["Cache-Control": "only-if-cached"]).schedule(with: world.service)
            Issue.record("the call succeeded")
        } catch {
            #expect(error.kind == .refused(.notStored))
            #expect((error.status, error.delivery, error.trace.attempts.count) == (504, .notSent, 1))
        }
        #expect(world.transport.count == 0)
    }

    @Test(
        "what has been changed is forgotten: the URL, and where Location and Content-Location lead within the origin",
        arguments: [
            (HttpMethod.post, ScriptedReply.status(201, header: ["Location": "/things/7"]), [true, true]),
            (.put, .status(204, header: ["Content-Location": "https://api.example.com/things/7"]), [true, true]),
            (.delete, .status(204), [true, false]),
            ("PURGE", .status(302, header: ["Location": "https://other.example"]), [true, false]),
            (.post, .status(201, header: ["Location": "https://other.example.com/things/7"]), [true, false]),
            (.post, .status(404), [false, false]), (.post, .status(500), [false, false]),
            // The answer got lost: it may have been a good one.
            (.post, .fail(.networkConnectionLost), [true, false]),
            (.post, .fail(.cannotConnectToHost, delivery: .notSent), [false, false]),
            (.options, .status(204), [false, false]),
        ] as [(HttpMethod, ScriptedReply, [Bool])]
    )
    func invalidation(method: HttpMethod, reply: ScriptedReply, forgotten: [Bool]) async throws {
        let world = CacheWorld { request, _ in
            if request.url.host == "other.example" { return .status(204) }
            return request.method == .get ? .reply(header: ["Cache-Control": "max-age=60"], text: "one") : reply
        }
        let routes: [HttpRoute] = [["things"], ["things", 7]]
        for route in routes { #expect(await world.get([:], route) == "200 one") }
        _ = await world.get(method: method)
        for (route, isForgotten) in zip(routes, forgotten) {
            #expect(await world.get([:], route) == (isForgotten ? "200 one" : "200 one age 0"))
        }
    }

    @Test("an answer that was under way while its URL was changed is not stored")
    func changedMeanwhile() async throws {
        try await simulate { simulation in
            let world = CacheWorld(clock: simulation.clock) { request, _ in
                guard request.method == .get else { return .status(204) }
                return .delay(.seconds(5), then: .reply(header: ["Cache-Control": "max-age=60"], text: "old"))
            }
            async let old = world.get()
            try await simulation.clock.sleep(for: .seconds(1))
            #expect(await world.get(method: .delete) == "204")
            #expect(await old == "200 old")
            #expect(world.cache.responseCount == 0)
        }
    }

    @Test("memory is bounded: what was not used for longest goes first, and what is too large is not stored")
    func bounds() async throws {
        let world = CacheWorld(maxBytes: 16_000, maxResponseBytes: 5_000) { request, _ in
            let size = request.url.path == "/large" ? 5_000 : 1_000
            return .reply(header: ["Cache-Control": "max-age=60"], body: Data(repeating: 0x41, count: size))
        }
        for number in 0..<100 {
            _ = await world.get([:], ["things", number])
            #expect(world.cache.byteCount <= 16_000)
            // Used all the time.
            _ = await world.get([:], ["things", 0])
        }
        #expect(world.transport.count == 100)
        _ = await world.get([:], ["things", 99])
        #expect(world.transport.count == 100)
        _ = await world.get([:], ["things", 1])
        #expect(world.transport.count == 101)
        for _ in 1...2 { _ = await world.get([:], ["large"]) }
        #expect(world.transport.count == 103)
        await world.cache.removeAll()
        #expect((world.cache.byteCount, world.cache.responseCount) == (0, 0))
    }

    @Test("the stored responses of one URL can be removed, however the URL is written")
    func removal() async throws {
        let world = CacheWorld { _, _ in .reply(header: ["Cache-Control": "max-age=60"], text: "one") }
        _ = await world.get()
        await world.cache.remove(try #require(URL(string: "HTTPS://API.example.com:443/things#part")))
        #expect(world.cache.responseCount == 0)
    }

    @Test("a URL has eight answers that vary at most")
    func variants() async throws {
        let world = CacheWorld { _, _ in
            .reply(header: ["Cache-Control": "max-age=60", "Vary": "Accept"], text: "one")
        }
        for number in 0..<20 { _ = await world.get(["Accept": "text/\(number)"]) }
        #expect(world.cache.responseCount == 8)
        #expect(await world.get(["Accept": "text/12"]) == "200 one age 0")
        #expect(await world.get(["Accept": "text/11"]) == "200 one")
    }
}

/// A list that goes on where a field of its header says.
private struct TokenPages: JsonRequest, PaginatedRequest {
    typealias Result = [Int]
    var cursor: String?
    var route: HttpRoute { [] }
    var query: HttpQuery { ["page": cursor] }

    func items(of page: [Int]) -> [Int] { page }
    var pagination: Pagination<Self> { .cursor(\.cursor) { $0.header["X-Next-Page-Token"] } }
}
