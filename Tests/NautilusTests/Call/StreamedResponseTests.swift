import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A response that is read while it comes")
struct StreamedResponseTests {
    private struct Export: Request {
        typealias Result = HttpBodyStream
        var timeout: Duration? = .seconds(10)
        var deadline: Duration?
        var route: HttpRoute { [] }
    }

    /// Counts the bytes while they come, and cannot stand an `x`.
    private struct Count: Request {
        struct HasX: Error {}
        typealias Result = Int
        var route: HttpRoute { [] }
        var streamsResponse: Bool { true }
        func decode(_ data: Data) throws -> Int { data.count }
        func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Int {
            var count = 0
            for try await chunk in response.body {
                if chunk.contains(UInt8(ascii: "x")) { throw HasX() }
                count += chunk.count
            }
            return count
        }
    }

    private let clock = ManualClock()

    private func service(_ transport: ScriptedTransport, retries: Int = 0) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.zero)
                    $0.maxAttempts = retries + 1
                    $0.budget = .unlimited
                }
            ),
            transport: transport,
            clock: clock
        )
    }

    private func data(_ texts: String...) -> [Data] { texts.map { Data($0.utf8) } }

    @Test("the result is the body, chunk by chunk, with its length")
    func chunks() async throws {
        let transport = ScriptedTransport(.chunks(data("ab", "c")))
        let body = try await Export().schedule(with: service(transport))
        #expect(body.length == 3)
        var chunks: [String] = []
        for try await chunk in body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["ab", "c"])
        await #expect(throws: HttpBodyStream.ReadError.alreadyRead) { for try await _ in body {} }
    }

    @Test("a failure before the header is retried, one within the body is the reader's")
    func failures() async throws {
        let broken = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        let transport = ScriptedTransport(.fail(.timedOut), .status(503), .chunks(data("ab"), endingWith: broken))
        let response = try await Export().response(with: service(transport, retries: 2))
        #expect(transport.count == 3)
        #expect(response.trace.attempts.count == 3)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("ab".utf8))
        do {
            _ = try await chunks.next()
            Issue.record("the body is whole")
        } catch let error as HttpError {
            #expect(error.kind == .transport(.networkConnectionLost))
            #expect(error.stage == .send)
            #expect(error.request?.method == .get)
        }
    }

    @Test("if the result needs the whole body, a body that breaks off leads to another attempt")
    func retriedWithin() async throws {
        let broken = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        let transport = ScriptedTransport(.chunks(data("ab"), endingWith: broken), .chunks(data("ab", "c")))
        #expect(try await Count().schedule(with: service(transport, retries: 1)) == 3)
        #expect(transport.count == 2)
    }

    @Test("an error while a streamed body is decoded is of kind decoding, and not retried")
    func decoding() async throws {
        let transport = ScriptedTransport(.chunks(data("x")), .chunks(data("a")))
        let error = await #expect(throws: HttpError.self) {
            try await Count().schedule(with: service(transport, retries: 1))
        }
        #expect(error?.kind == .decoding)
        #expect(error?.underlying is Count.HasX)
        #expect(transport.count == 1)
    }

    @Test("the body of a refused status is in the error, as far as errors keep it")
    func refused() async throws {
        let large = Data("why".utf8) + Data(repeating: 65, count: HttpError.bodyLimit)
        let (error, time) = try await simulate { simulation in
            let reply = ScriptedReply.chunks(status: 404, [large, large, large], pause: .milliseconds(400))
            let transport = ScriptedTransport(reply, clock: simulation.clock)
            let service = AnyHttpService(apiUrl: "a.com", transport: transport, clock: simulation.clock)
            let error = await #expect(throws: HttpError.self) { try await Export().schedule(with: service) }
            return (error, simulation.clock.now.offset)
        }
        // The first chunk is enough: the second would come 400 ms later.
        #expect(time == .milliseconds(400))
        #expect(error?.kind == .status(404))
        #expect(error?.response?.body.count == HttpError.bodyLimit)
        #expect(error?.response?.body.starts(with: Data("why".utf8)) == true)
    }

    @Test(
        "C20: a status that is refused is told a second after its header, with what has come of its body by then",
        arguments: [(nil, 1_000, "ab"), (300, 300, "")] as [(Int?, Int, String)]
    )
    func slowRefusal(timeout: Int?, told: Int, body: String) async throws {
        let (error, time, isReleased) = try await simulate { simulation in
            let clock = simulation.clock
            let transport = SlowRefusal(pause: .milliseconds(400), on: clock)
            let service = AnyHttpService(apiUrl: "a.com", transport: transport, clock: clock)
            let export = Export(timeout: timeout.map { .milliseconds($0) })
            do throws(HttpError) {
                _ = try await export.schedule(with: service)
                return (HttpError?.none, clock.now.offset, true)
            } catch {
                return (error, clock.now.offset, transport.isReleased.withLock { $0 })
            }
        }
        #expect(error?.kind == .status(503))
        #expect(error?.delivery == .rejected)
        #expect(error?.response?.body == Data(body.utf8))
        #expect(time == .milliseconds(told))
        // The connection is not kept for what else would come.
        #expect(isReleased)
    }

    @Test("C20: a retry does not wait for the body of what it follows, for longer than a second")
    func slowRetry() async throws {
        try await simulate { simulation in
            let transport = ScriptedTransport(
                .chunks(status: 503, data("a"), pause: .seconds(3_600)),
                .chunks(data("b")),
                clock: simulation.clock
            )
            var export = Export()
            export.timeout = nil
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(.atOnce),
                transport: transport,
                clock: simulation.clock
            )
            let body = try await export.schedule(with: service)
            #expect(try await body.collected(limit: 10) == Data("b".utf8))
            #expect(transport.attempts.map(\.start) == [.zero, .seconds(1)])
        }
    }

    @Test("an error holds no body that is still to come, of a refused redirect or of what does not decode")
    func errorsHoldNothing() async throws {
        struct Picky: Request {
            typealias Result = HttpBodyStream
            var route: HttpRoute { [] }
            func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpBodyStream { throw Count.HasX() }
        }
        let down = ScriptedTransport(.status(302, header: ["Location": "http://a.com/other"]))
        let refused = await #expect(throws: HttpError.self) { try await Export().schedule(with: service(down)) }
        #expect(refused?.kind == .redirect(.downgrade))
        #expect(refused?.response?.isStreamed == false)
        let undecoded = await #expect(throws: HttpError.self) {
            try await Picky().schedule(with: service(ScriptedTransport(.chunks(data("a")))))
        }
        #expect(undecoded?.kind == .decoding)
        #expect(undecoded?.response?.isStreamed == false)
    }

    @Test("the timeout bounds each wait for more, and not all of them together", arguments: [9, 11])
    func idle(pause: Int) async throws {
        let (outcome, time) = try await simulate { simulation in
            let clock = simulation.clock
            let reply = ScriptedReply.chunks(data("a", "b", "c"), pause: .seconds(pause))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                transport: ScriptedTransport(reply, clock: clock),
                clock: clock
            )
            let start = clock.now
            let body = try await Export().schedule(with: service)
            var outcome: String
            do throws(HttpError) {
                var count = 0
                var chunks = body.makeAsyncIterator()
                while try await nextChunk(&chunks) != nil { count += 1 }
                outcome = "\(count) chunks"
            } catch {
                outcome = "\(error.kind)"
            }
            return (outcome, start.duration(to: clock.now))
        }
        // The end is waited for, too.
        #expect(outcome == (pause == 9 ? "3 chunks" : "\(FailureKind.timeout(.seconds(10)))"))
        #expect(time == (pause == 9 ? .seconds(36) : .seconds(10)))
    }

    private func nextChunk(_ chunks: inout HttpBodyStream.AsyncIterator) async throws(HttpError) -> Data? {
        do {
            return try await chunks.next()
        } catch {
            throw error as? HttpError ?? HttpError(.custom, stage: .decode, underlying: error)
        }
    }

    @Test("an interceptor that answers by itself has the body as one chunk; one that looks on sees none of it")
    func interceptors() async throws {
        struct Answer: CallInterceptor {
            func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<
                Data
            > {
                #expect(context.streamsResponse)
                return HttpResponse(body: Data("cached".utf8))
            }
        }
        struct Look: CallInterceptor {
            func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<
                Data
            > {
                let response = try await next(request)
                #expect(response.isStreamed)
                #expect(response.body.isEmpty)
                return response
            }
        }
        let answered = AnyHttpService(apiUrl: "a.com", interceptors: [Answer()], transport: ScriptedTransport())
        #expect(try await Export().schedule(with: answered).collected(limit: 10) == Data("cached".utf8))
        let transport = ScriptedTransport(.chunks(data("ab")))
        let looked = AnyHttpService(apiUrl: "a.com", interceptors: [Look()], transport: transport)
        #expect(try await Export().schedule(with: looked).collected(limit: 10) == Data("ab".utf8))
    }

    @Test("redirects of a streamed response are followed")
    func redirect() async throws {
        let transport = ScriptedTransport(.status(302, header: ["Location": "/other"]), .chunks(data("ab")))
        let body = try await Export().schedule(with: service(transport))
        #expect(try await body.collected(limit: 10) == Data("ab".utf8))
        #expect(transport.attempts.map(\.request.url.path) == ["", "/other"])
    }

    @Test("a call that is cancelled while it decodes ends with the cancellation, and with nothing about decoding")
    func cancelledDecoding() async throws {
        struct Waiting: Request {
            typealias Result = Int
            let began: AsyncStream<Void>.Continuation
            var route: HttpRoute { [] }
            var streamsResponse: Bool { true }
            func decode(_ data: Data) throws -> Int { data.count }
            func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Int {
                began.finish()
                let (nothing, end) = AsyncStream.makeStream(of: Void.self)
                // It ends when its task is cancelled.
                for await _ in nothing {}
                end.finish()
                try Task.checkCancellation()
                return 0
            }
        }
        let (decoding, began) = AsyncStream.makeStream(of: Void.self)
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "abc")))
        let call = Task { try await Waiting(began: began).schedule(with: service) }
        for await _ in decoding {}
        call.cancel()
        let error = await #expect(throws: HttpError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.stage == .decode)
        #expect(error?.trace.attempts.count == 1)
    }

    @Test("a reader who is cancelled gets the cancellation")
    func cancelled() async throws {
        let transport = ScriptedTransport(.chunks(data("a"), pause: .seconds(1)), clock: clock)
        let body = try await Export().schedule(with: service(transport))
        let reading = Task { for try await _ in body {} }
        try await clock.waitForSleepers(count: 1)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }
}

/// Refuses everything, with a body that comes letter by letter.
private final class SlowRefusal: HttpTransport {
    private let pause: Duration
    private let clock: ManualClock
    /// Whether the connection was let go of.
    let isReleased = Locked(false)

    private final class Connection: Sendable {
        let onRelease: @Sendable () -> Void
        init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    init(pause: Duration, on clock: ManualClock) {
        (self.pause, self.clock) = (pause, clock)
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        try await stream(request, context: context).replacingBody(Data())
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let connection = Connection { [self] in isReleased.withLock { $0 = true } }
        let letters = Locked(Array("abcdefgh"))
        let body = HttpBodyStream { [clock, pause] in
            try await clock.sleep(for: pause)
            withExtendedLifetime(connection) {}
            return letters.withLock { $0.isEmpty ? nil : Data(String($0.removeFirst()).utf8) }
        }
        return HttpResponse(status: 503, header: ["Retry-After": "1"], body: body)
    }
}
