import Foundation
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A download to a file")
struct DownloadTests {
    static let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let folder = try? TemporaryFolder()

    func target() throws -> URL { try #require(folder).url.appendingPathComponent("file.bin") }

    func service(_ transport: ScriptedTransport, retries: Int = 5) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = retries + 1
                    $0.budget = .unlimited
                }
            ),
            transport: transport
        )
    }

    static let broken = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")

    /// The first `count` bytes, and then the connection breaks.
    static func part(_ count: Int, _ header: HttpHeader = ["ETag": "\"1\""]) -> ScriptedReply {
        .chunks(header: header, [bytes.prefix(count)], endingWith: broken)
    }

    /// The bytes from `first` on.
    static func rest(
        from first: Int,
        range: String? = nil,
        status: Int = 206,
        header: HttpHeader = ["ETag": "\"1\""]
    ) -> ScriptedReply {
        let range: HttpHeader = ["Content-Range": range ?? "bytes \(first)-999/1000"]
        return .chunks(status: status, header: header.merging(range), [bytes.dropFirst(first)])
    }

    var whole: ScriptedReply { .chunks([Self.bytes.prefix(400), Self.bytes.dropFirst(400)]) }

    @Test("the file has the bytes, is this user's alone, and there is nothing beside it")
    func writes() async throws {
        let told = Locked<[HttpProgress]>([])
        let transport = ScriptedTransport(whole)
        let target = try target()
        let response = try await Ping.get.download(to: target, with: service(transport)) { progress in
            told.withLock { $0.append(progress) }
        }
        #expect(response.body == target)
        #expect(try Data(contentsOf: target) == Self.bytes)
        #expect(told.withLock { $0 } == [400, 1000].map { HttpProgress(completed: $0, total: 1000) })
        #expect(try folder?.names == ["file.bin"])
        let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(transport.attempts[0].header["Range"] == nil)
    }

    @Test("a download that breaks off continues there, as often as needed, if the file is the same")
    func resumes() async throws {
        let transport = ScriptedTransport(
            Self.part(300),
            .status(503),
            .chunks(
                status: 206,
                header: ["Content-Range": "bytes 300-999/1000"],
                [Self.bytes[300..<500], Self.bytes[500..<501]],
                endingWith: Self.broken
            ),
            Self.rest(from: 501)
        )
        let target = try target()
        let response = try await Ping.get.download(to: target, with: service(transport))
        #expect(try Data(contentsOf: target) == Self.bytes)
        #expect(response.trace.attempts.count == 4)
        #expect(transport.attempts.map { $0.header["Range"] } == [nil, "bytes=300-", "bytes=300-", "bytes=501-"])
        #expect(transport.attempts.map { $0.header["If-Range"] } == [nil, "\"1\"", "\"1\"", "\"1\""])
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    /// Headers and what is asked for after the break.
    private static let validators: [(HttpHeader, String?)] = [
        (["ETag": "\"1\""], "\"1\""),
        (["ETag": "W/\"1\""], nil),
        (["ETag": "W/\"1\"", "Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:49:37 GMT"], nil),
        (["ETag": "1"], nil),
        (["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"], date),
        (["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
        (["Last-Modified": date], nil),
        (["Last-Modified": "yesterday", "Date": date], nil),
        (["ETag": "\"1\"", "Content-Encoding": "gzip"], nil),
        (["ETag": "\"1\"", "Content-Encoding": "identity"], "\"1\""),
        (["ETag": "\"1\"", "Accept-Ranges": "none"], nil),
        ([:], nil),
    ]

    @Test("only a strong validator is asked with; without one the download begins anew", arguments: validators)
    func asksWith(header: HttpHeader, ifRange: String?) async throws {
        let transport = ScriptedTransport(Self.part(300, header), whole)
        let target = try target()
        try await Ping.get.download(to: target, with: service(transport))
        #expect(transport.attempts[1].header["If-Range"] == ifRange)
        #expect(transport.attempts[1].header["Range"] == (ifRange == nil ? nil : "bytes=300-"))
        #expect(try Data(contentsOf: target) == Self.bytes)
    }

    /// Answers to the request for the rest that are not it.
    private static let others: [ScriptedReply] = [
        rest(from: 200, range: "bytes 200-999/1000"),
        rest(from: 300, range: "bytes 301-999/1000"),
        rest(from: 300, range: "bytes 300-998/999", header: ["ETag": "\"2\""]),
        rest(from: 300, range: "bytes 300-"),
        rest(from: 300, header: ["ETag": "\"1\"", "Content-Encoding": "gzip"]),
        .chunks(status: 206, [bytes]),
        .status(416, header: ["Content-Range": "bytes */1000"]),
    ]

    @Test("after a 416 or another range, a download asks at once for the whole file", arguments: 0..<7)
    func begins(index: Int) async throws {
        let transport = ScriptedTransport(Self.part(300), Self.others[index], whole)
        let target = try target()
        let response = try await Ping.get.download(to: target, with: service(transport, retries: 1))
        #expect(try Data(contentsOf: target) == Self.bytes)
        #expect(transport.attempts.map { $0.header["Range"] } == [nil, "bytes=300-", nil])
        #expect(response.trace.attempts[1].decision?.retrier == "Download")
    }

    @Test("a rest with the same tag of a file of another length is not the rest, from wherever the length is known")
    func otherTotal() async throws {
        let ofAnother = Self.rest(from: 300, range: "bytes 300-999/1200")
        let known = Self.part(300, ["ETag": "\"1\"", "Content-Length": "1000"])
        let learned = ScriptedReply.chunks(
            status: 206,
            header: ["ETag": "\"1\"", "Content-Range": "bytes 200-999/1000"],
            [Self.bytes[200..<300]],
            endingWith: Self.broken
        )
        for replies in [[known], [Self.part(200), learned]] {
            let script = replies + [ofAnother, whole]
            let transport = ScriptedTransport { _, context in script[context.number - 1] }
            let target = try target()
            try await Ping.get.download(to: target, with: service(transport))
            #expect(try Data(contentsOf: target) == Self.bytes)
            #expect(transport.attempts.map { $0.header["Range"] }.suffix(2) == ["bytes=300-", nil])
        }
    }

    @Test("the second time that the rest is refused, the error surfaces")
    func beginsOnce() async throws {
        let transport = ScriptedTransport(Self.part(300), .status(416), Self.part(300), .status(416))
        let target = try target()
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.download(to: target, with: service(transport))
        }
        #expect(error?.kind == .status(416))
        #expect(error?.underlying as? DownloadError == .notContinued(status: 416))
        #expect(transport.count == 4)
    }

    @Test("a file that has changed comes whole, and replaces what came of the old one")
    func changed() async throws {
        let other = Data(repeating: 7, count: 50)
        let transport = ScriptedTransport(Self.part(300), .chunks(header: ["ETag": "\"2\""], [other]))
        let target = try target()
        try await Ping.get.download(to: target, with: service(transport))
        #expect(try Data(contentsOf: target) == other)
    }

    @Test("an accepted 304 leaves the target as it was", arguments: [[:], ["Content-Length": "1000"]] as [HttpHeader])
    func notModified(header: HttpHeader) async throws {
        let target = try target()
        try Data("old".utf8).write(to: target)
        let call = Ping(header: ["If-None-Match": "\"1\""], acceptedStatusCodes: [.success, 304])
        let transport = ScriptedTransport(.status(304, header: header))
        let response = try await call.download(to: target, with: service(transport))
        #expect(response.status == 304)
        #expect(response.body == target)
        #expect(try Data(contentsOf: target) == Data("old".utf8))
        #expect(try folder?.names == ["file.bin"])
    }

    @Test("a 204 makes an empty file: there is nothing in it, says the server")
    func noContent() async throws {
        let target = try target()
        try await Ping.get.download(to: target, with: service(ScriptedTransport(.status(204))))
        #expect(try Data(contentsOf: target).isEmpty)
    }

    @Test("a part that nobody has asked for is refused")
    func unasked() async throws {
        let transport = ScriptedTransport(Self.rest(from: 300))
        let target = try target()
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.download(to: target, with: service(transport))
        }
        #expect(error?.underlying as? DownloadError == .unexpectedPart)
    }

    @Test("after a failure, and a cancellation, the target is as it was and nothing is left beside it")
    func untouched() async throws {
        let clock = ManualClock()
        let target = try target()
        try Data("old".utf8).write(to: target)
        let failing = service(ScriptedTransport(Self.part(300)), retries: 0)
        await #expect(throws: HttpError.self) { try await Ping.get.download(to: target, with: failing) }
        #expect(try folder?.names == ["file.bin"])

        let slow = ScriptedTransport(.chunks([Self.bytes], pause: .seconds(1)), clock: clock)
        let call = Task { try await Ping.get.download(to: target, with: service(slow)) }
        try await clock.waitForSleepers(count: 1)
        call.cancel()
        let error = await #expect(throws: HttpError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(try folder?.names == ["file.bin"])
        #expect(try Data(contentsOf: target) == Data("old".utf8))
    }

    @Test("a place that cannot be written to is a typed error, and not tried again")
    func unwritable() async throws {
        let missing = try #require(folder).url.appendingPathComponent("none/file.bin")
        let transport = ScriptedTransport(whole)
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.download(to: missing, with: service(transport))
        }
        #expect(error?.kind == .custom)
        guard case .missing? = error?.underlying as? HttpBodyStream.FileError else {
            Issue.record("\(String(describing: error?.underlying))")
            return
        }
        #expect(transport.count == 1)
    }

    @Test(
        "errors of the file system have a name",
        arguments: [
            (ENOSPC, HttpBodyStream.FileError.full(name: "a")), (EACCES, .notPermitted(name: "a")),
            (ENOENT, .missing(name: "a")),
        ]
    )
    func codes(code: Int32, error: HttpBodyStream.FileError) {
        #expect(HttpBodyStream.FileError("write", name: "a", code: code) == error)
    }

    @Test("a success is deposited once, also where hedging and the retrier keep the same budget")
    func deposit() async throws {
        let budget = QuotaBudget(initial: 100)
        let service = service(ScriptedTransport(whole)).with {
            $0.retrierFactory = BackoffRetrier.factory(.standard.with { $0.budget = .shared(budget) })
            $0.interceptors.append(Hedging(after: .fixed(.seconds(1)), budget: .shared(budget)))
        }
        try await Ping.get.download(to: target(), with: service)
        #expect(budget.balance == 101)
    }

    @Test("the retrier is made for the request that was declared, and asked about it")
    func declared() async throws {
        struct Asks: Retrier {
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                request is Ping ? true : false
            }
        }
        let factory = AnyRetrierFactory { request in
            #expect(request is Ping)
            return Asks()
        }
        let transport = ScriptedTransport(.status(503), whole)
        let service = AnyHttpService(apiUrl: "a.com", retrierFactory: factory, transport: transport)
        try await Ping.get.download(to: target(), with: service)
        #expect(transport.count == 2)
    }
}
