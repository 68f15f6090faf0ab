import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("HttpCache: changes by later interceptors", .endsInTime)
struct CacheChangedFieldTests {
    /// A server that speaks two languages, English where none is asked for, and a cache outside of what sets the user's.
    private static func world(
        _ language: Locked<String?>,
        header: HttpHeader = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
        folder: CacheFolder? = nil,
        validator: @escaping @Sendable (_ language: String) -> HttpHeader = { ["ETag": "\"\($0)\""] },
        fails: Locked<Bool> = Locked(false)
    ) -> CacheWorld {
        CacheWorld(folder: folder, inside: [Locale(language: language)]) { request, _ in
            if fails.withLock({ $0 }) { return .status(503) }
            let spoken = request.header[.acceptLanguage] ?? "en"
            let header = header.merging(validator(spoken))
            let isKnown =
                request.header["If-None-Match"] != nil
                ? request.header["If-None-Match"] == header["ETag"]
                : request.header["If-Modified-Since"] != nil
                    && request.header["If-Modified-Since"] == header["Last-Modified"]
            return isKnown ? .status(304, header: header) : .reply(header: header, text: spoken)
        }
    }

    @Test(
        "C5: an answer that varies by a field that is set after the cache serves once the server has said that it is the one"
    )
    func changedOnTheWire() async throws {
        let language = Locked<String?>("de")
        let world = Self.world(language)
        #expect(await world.get() == "200 de")
        #expect(await world.get() == "200 de age 0")
        language.withLock { $0 = "en" }
        #expect(await world.get() == "200 en")
        #expect(await world.get() == "200 en age 0")
        language.withLock { $0 = nil }
        #expect(await world.get() == "200 en")
        #expect(world.sentTags == ["-", "\"de\"", "\"de\"", "\"en\"", "\"en\"", "-"])
    }

    @Test("C5: a 304 is not believed that was given to another language: the same date says nothing")
    func sameDate() async throws {
        let language = Locked<String?>("de")
        let world = Self.world(language, validator: { _ in ["Last-Modified": httpDate(-10)] })
        #expect(await world.get() == "200 de")
        #expect(await world.get() == "200 de age 0")
        language.withLock { $0 = "en" }
        #expect(await world.get() == "200 en")
        #expect(await world.get() == "200 en age 0")
        #expect(world.transport.count == 5)
    }

    @Test(
        "C5: a response to a changed request is served neither stale, nor for an error, nor unvalidated",
        arguments: ["max-age=1, stale-while-revalidate=60", "max-age=1, stale-if-error=60", "max-age=60"]
    )
    func neverUnasked(control: String) async throws {
        let (language, fails) = (Locked<String?>("de"), Locked(false))
        let world = Self.world(
            language,
            header: HttpHeader([
                .init(name: "Cache-Control", value: control), .init(name: "Vary", value: "Accept-Language"),
            ]),
            validator: { control == "max-age=60" ? [:] : ["ETag": "\"\($0)\""] },
            fails: fails
        )
        #expect(await world.get() == "200 de")
        #expect(world.cache.responseCount == (control == "max-age=60" ? 0 : 1))
        world.advance(2)
        language.withLock { $0 = "en" }
        #expect(await world.get() == "200 en")
        fails.withLock { $0 = true }
        world.advance(2)
        #expect(await world.get() == "status 503")
    }

    @Test("C5: a field that is the same on the wire selects as ever, also where others are set after the cache")
    func untouched() async throws {
        let world = Self.world(Locked("de"), header: ["Cache-Control": "max-age=60", "Vary": "Accept"])
        #expect(await world.get(["Accept": "text/plain"]) == "200 de")
        #expect(await world.get(["Accept": "text/plain"]) == "200 de age 0")
        #expect(await world.get(["Accept": "text/html"]) == "200 de")
        #expect(world.transport.count == 2)
    }

    @Test("C5: what stands before the cache is seen by it, and each language has an answer of its own")
    func before() async throws {
        let language = Locked<String?>("de")
        let world = Self.world(Locked(nil))
        let locale = ClosureInterceptor { request, _, next in
            var request = request
            request.header[.acceptLanguage] = language.withLock { $0 }
            return try await next(request)
        }
        let service = world.service.with { $0.interceptors = [locale, world.cache] }
        for (spoken, sent) in [("de", 1), ("en", 2), ("de", 2), ("en", 2)] {
            language.withLock { $0 = spoken }
            #expect(try await Ping.get.schedule(with: service) == spoken)
            #expect(world.transport.count == sent)
        }
    }

    @Test("C5: a response to a changed request is treated the same on disk")
    func onDisk() async throws {
        let folder = try TemporaryFolder()
        let place = CacheFolder(folder.url.appendingPathComponent("responses"))
        let first = Self.world(Locked("de"), folder: place)
        #expect(await first.get() == "200 de")
        await first.cache.flush()
        let second = Self.world(Locked("en"), folder: place)
        #expect(await second.get() == "200 en")
        #expect(second.sentTags == ["\"de\""])
    }

    @Test("C5: the answer to a HEAD in another language says nothing of what is stored")
    func head() async throws {
        let language = Locked<String?>("de")
        let world = Self.world(language)
        #expect(await world.get() == "200 de")
        language.withLock { $0 = "en" }
        #expect(await world.get(method: .head) == "200 en")
        #expect(world.cache.responseCount == 1)
        language.withLock { $0 = "de" }
        #expect(await world.get() == "200 de age 0")
        #expect(world.sentTags.last == "\"de\"")
    }

    @Test(
        "C5: the answer to another URL or method than was asked for is not stored, nor what is not to be",
        arguments: ["url", "method", "no-store"]
    )
    func changed(what: String) async throws {
        let world = CacheWorld(inside: [Rewriting(what: what)]) { _, _ in
            .reply(header: ["Cache-Control": "max-age=60"], text: "one")
        }
        for _ in 1...2 { #expect(await world.get().hasPrefix("200")) }
        #expect((world.transport.count, world.cache.responseCount) == (2, 0))
    }

    @Test("what a later interceptor answers by itself is not stored: nothing tells whose it is")
    func made() async throws {
        let world = CacheWorld(inside: [Answering()]) { _, _ in .status(500) }
        for _ in 1...2 { #expect(await world.get() == "200 made here") }
        #expect((world.transport.count, world.cache.responseCount) == (0, 0))
    }

    @Test("C21: a call that an interceptor makes, or leaves behind, is none of the exchange's")
    func otherCalls() async throws {
        try await simulate { simulation in
            let user = Locked<String?>("anna")
            let other = AnyHttpService(
                apiUrl: "other.example.com",
                retrierFactory: UserRetrier.factory(user),
                transport: ScriptedTransport(.status(200), afterLast: .repeat),
                clock: simulation.clock
            )
            let calling = Calling(service: other)
            let world = CacheWorld(clock: simulation.clock, inside: [calling]) { _, _ in
                .delay(.seconds(1), then: .reply(header: ["Cache-Control": "max-age=60"], text: "one"))
            }
            #expect(await world.get() == "200 one")
            #expect(await world.get() == "200 one age 1")
            #expect(calling.count.value == 2)
        }
    }
}

/// Sets the user's language.
private struct Locale: NetworkInterceptor {
    let language: Locked<String?>

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        if let language = language.withLock({ $0 }) { request.header[.acceptLanguage] = language }
        return try await next(request)
    }
}

/// Asks for something else than was asked for.
private struct Rewriting: NetworkInterceptor {
    let what: String

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        switch what {
        case "url": request.url.appendPathComponent("more")
        case "method": request.method = .head
        default: request.header[.cacheControl] = "no-store"
        }
        return try await next(request)
    }
}

/// Answers by itself.
private struct Answering: NetworkInterceptor {
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        HttpResponse(header: ["Cache-Control": "max-age=60"], body: Data("made here".utf8))
    }
}

/// Makes a call of its own, and leaves another behind.
private struct Calling: NetworkInterceptor {
    let service: AnyHttpService<HttpError>
    let count = Counter()

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        _ = try await Ping.get.schedule(with: service)
        count.increment()
        BackgroundTask.start {
            _ = try? await Ping.get.schedule(with: service)
            count.increment()
        }
        return try await next(request)
    }
}
