import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

/// 12.4: a server that takes connections and is of no use, by mistake or on purpose, and never more often than it should be.
@Suite("An event stream of a hostile server", .endsInTime)
struct HostileEventStreamTests {
    /// The course of a stream until it ended, or until its reader wanted no more.
    private struct Story: Sendable {
        var events = 0
        var error: (any Error)?
        /// When each request was sent.
        var starts: [Duration] = []
        /// How many bytes have been read of bodies that never end.
        var bytesRead = 0
        var balance = 0.0

        var httpError: HttpError? { error as? HttpError }
        var reason: RetryReason? { httpError?.trace.attempts.last?.decision?.reason }
    }

    /// Reads up to `count` events, with the default backoff without its jitter.
    private func read(
        _ count: Int = .max,
        delay: Duration? = nil,
        budget: Int = 10,
        eventLimit: Int = 1 << 16,
        timeout: Duration? = nil,
        tries: Int? = nil,
        _ answer: @escaping @Sendable (_ number: Int, ManualClock) -> Connection
    ) async throws -> Story {
        try await simulate { simulation in
            let clock = simulation.clock
            let account = TokenBucketBudget(capacity: budget, depositOfSuccess: 0)
            let server = Server(clock: clock, answer: answer)
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(
                    .standard.with {
                        $0.backoff = delay.map { .constant($0, jitter: .none) } ?? .exponential(jitter: .none)
                        $0.budget = .shared(account)
                    }
                ),
                transport: server,
                clock: clock
            )
            var story = Story()
            do {
                let limit = ReconnectLimit(attempts: tries)
                let ping = Ping(timeout: timeout)
                // The pace begins half a second late.
                try await drawing(0.5, on: clock) {
                    for try await _ in ping.events(with: service, limit: eventLimit, reconnectLimit: limit) {
                        story.events += 1
                        if story.events == count { break }
                    }
                }
            } catch {
                story.error = error
            }
            story.starts = server.starts.withLock { $0 }
            story.bytesRead = server.bytesRead.withLock { $0 }
            story.balance = account.balance
            return story
        }
    }

    private static func seconds(_ seconds: Double...) -> [Duration] {
        seconds.map { .milliseconds(Int($0 * 1000)) }
    }

    /// When a stream of which no connection serves is asked, without jitter: the delays double up to 20 s.
    private static let growing = seconds(0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 51.5, 71.5, 91.5)

    @Test("C4: a server that ends each connection at once is asked ever more slowly, at no cost, up to the limit")
    func endsAtOnce() async throws {
        let story = try await read(tries: 9) { _, _ in .events() }
        #expect(story.starts == Self.growing)
        #expect(story.balance == 10)
        #expect(story.httpError?.kind == .transport(.networkConnectionLost))
        #expect(story.reason == .custom("reconnect limit: 9 connections in a row"))
    }

    @Test("C4: comments are no event: connections of nothing else come ever more slowly")
    func commentsOnly() async throws {
        let story = try await read(tries: 9) { _, _ in .events(": ping\n\n: ping\n\n") }
        #expect(story.starts == Self.growing)
    }

    @Test(
        "C4: comments for ten seconds are a connection that has served: the next follows for nothing, one in eleven seconds"
    )
    func commentsForLong() async throws {
        let story = try await read { number, clock in
            number == 100 ? .none : .events(of: 20, on: clock, ": ping\n\n")
        }
        #expect(story.events == 0)
        #expect(story.error == nil)
        #expect(story.balance == 10)
        #expect(story.starts.count == 100)
        // Twenty pings half a second apart, the end behind them, and half a second of backoff.
        #expect(zip(story.starts.dropFirst(), story.starts).allSatisfy { $0 - $1 == .seconds(11) })
    }

    @Test(
        "C4: with retry: 0 and a retrier that waits for nothing, connections come a second apart after at most five"
    )
    func retryZero() async throws {
        let story = try await read(100, delay: .zero) { _, _ in .events("retry: 0\ndata: a\n\n") }
        #expect(story.starts.count == 100)
        #expect(story.starts.prefix(8) == Self.seconds(0, 0, 0, 0, 0.5, 1.5, 2.5, 3.5)[...])
        #expect(story.starts.last == .milliseconds(95_500))
        #expect(story.balance == 10)
    }

    @Test("C4: retry: 0 does not shorten the retrier's own delay")
    func retryZeroUseless() async throws {
        let story = try await read(tries: 9) { _, _ in .events("retry: 0\n\n") }
        #expect(story.starts == Self.growing)
        #expect(story.balance == 10)
    }

    @Test(
        "C4: a delay of years is an hour, and the retrier's own",
        arguments: ["99999999999999999999", "3600001", "3600000"]
    )
    func hugeRetry(delay: String) async throws {
        let story = try await read(3) { _, _ in .events("retry: \(delay)\ndata: a\n\n") }
        #expect(story.starts == Self.seconds(0, 3600.5, 7201))
    }

    @Test(
        "C4: a line that never ends, and an event of lines that never ends, end the stream at its limit, and are not asked for again",
        arguments: ["a", "data: a\n"]
    )
    func endless(piece: String) async throws {
        let piece = String(repeating: piece, count: 512)
        let story = try await read { _, clock in .events(of: .max, on: clock, pause: .zero, piece) }
        let error = try #require(story.error as? HttpError)
        #expect(error.underlying as? HttpBodyStream.ReadError == .tooLarge(limit: 1 << 16))
        #expect(error.kind == .decoding)
        #expect(error.request != nil)
        #expect(story.starts.count == 1)
        // Of lines, the names and ends come to that.
        #expect(story.bytesRead <= 5 * (1 << 16))
    }

    @Test("C4: empty answers and 503s in turn are requested ever more slowly, at no cost")
    func alternating() async throws {
        let story = try await read(tries: 9) { number, _ in number.isMultiple(of: 2) ? .failure : .events() }
        #expect(story.starts == Self.growing)
        #expect(story.balance == 10)
        #expect(story.httpError?.kind == .status(503))
    }

    @Test("C4: with a 503 behind each event, an event stream goes on for nothing, and once a second")
    func alternatingWithEvents() async throws {
        let story = try await read(100, delay: .zero) { number, _ in
            number.isMultiple(of: 2) ? .failure : .events("data: a\n\n")
        }
        #expect(story.events == 100)
        let atOnce = Self.seconds(0, 0, 1, 1, 2, 2, 3)
        #expect(story.starts == atOnce + (7..<199).map { (number: Int) in .milliseconds(number * 1_000 - 3_500) })
        #expect(story.balance == 10)
    }

    @Test("C4: silence is ended by the request's timeout, and is no connection that has served before ten seconds")
    func silent() async throws {
        let story = try await read(timeout: .seconds(5), tries: 3) { _, clock in
            .events(of: 1, on: clock, pause: .seconds(100), ":")
        }
        #expect(story.starts == Self.seconds(0, 5.5, 11.5, 18.5))
        #expect(story.httpError?.kind == .timeout(.seconds(5)))
        #expect(story.balance == 10)
    }
}

/// Answers every request with a stream.
private final class Server: HttpTransport {
    let starts = Locked<[Duration]>([])
    let bytesRead = Locked(0)
    private let clock: ManualClock
    private let answer: @Sendable (Int, ManualClock) -> Connection

    init(clock: ManualClock, answer: @escaping @Sendable (Int, ManualClock) -> Connection) {
        (self.clock, self.answer) = (clock, answer)
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        throw TransportError(.unsupportedURL)
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let now = clock.now.offset
        let number = starts.withLock { starts in
            starts.append(now)
            return starts.count
        }
        let connection = answer(number, clock)
        let body = HttpBodyStream { [self] in
            let chunk = try await connection.take()
            bytesRead.withLock { $0 += chunk?.count ?? 0 }
            return chunk
        }
        return HttpResponse(status: connection.status, header: ["Content-Type": "text/event-stream"], body: body)
    }
}

/// A status, and what comes behind it.
private struct Connection: Sendable {
    var status = 200
    var take: @Sendable () async throws -> Data? = { nil }

    static var failure: Self { .init(status: 503) }
    static var none: Self { .init(status: 204) }

    /// Brings a text and ends.
    static func events(_ text: String = "") -> Self {
        let rest = Locked<Data?>(text.isEmpty ? nil : Data(text.utf8))
        return .init { rest.withLock { $0.take() } }
    }

    /// Brings a text again and again.
    static func events(
        of count: Int,
        on clock: ManualClock,
        pause: Duration = .milliseconds(500),
        _ text: String
    ) -> Self {
        let left = Locked(count)
        return .init {
            if pause > .zero { try await clock.sleep(for: pause) }
            let isOver = left.withLock { left in
                left -= 1
                return left < 0
            }
            return isOver ? nil : Data(text.utf8)
        }
    }
}
