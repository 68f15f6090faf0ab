import DemoServers
import Testing

@Suite("RequestLimiter")
struct RequestLimiterTests {
    /// Ten a second, one every 100 ms, and two more at once.
    private static func limiter(isDelaying: Bool = false) -> RequestLimiter {
        RequestLimiter(RequestLimit(requestsPerSecond: 10, burst: 2, isDelaying: isDelaying))
    }

    /// Whether requests of one client at these milliseconds are taken.
    private static func taken(_ limiter: RequestLimiter = limiter(), at times: Int...) -> [Bool] {
        var limiter = limiter
        return times.map { limiter.ask("app", at: .milliseconds($0)).isTaken }
    }

    @Test("the burst is taken at once, one besides, and then none until the bucket has leaked one")
    func burst() {
        #expect(Self.taken(at: 0, 0, 0, 0, 99, 100, 100) == [true, true, true, false, false, true, false])
        var limiter = Self.limiter()
        for _ in 1...3 { _ = limiter.ask("app", at: .zero) }
        let early = Duration.milliseconds(100) - .nanoseconds(1)
        #expect(!limiter.ask("app", at: early).isTaken)
        #expect(limiter.ask("app", at: .milliseconds(100)).isTaken)
    }

    @Test("without a burst, one goes every interval")
    func noBurst() {
        let strict = RequestLimiter(RequestLimit(requestsPerSecond: 10))
        #expect(Self.taken(strict, at: 0, 0, 99, 100, 199, 200) == [true, false, false, true, false, true])
    }

    @Test("a refused request uses up no quota: a client that keeps asking gets in as soon as one that waits")
    func refusalsAreFree() {
        var limiter = Self.limiter()
        for _ in 1...1_000 { _ = limiter.ask("app", at: .zero) }
        #expect(limiter.ask("app", at: .milliseconds(100)).isTaken)
    }

    @Test("time that nobody uses is saved up to the burst and no further")
    func idle() {
        #expect(Self.taken(at: 0, 0, 0, 9_000, 9_000, 9_000, 9_000) == [true, true, true, true, true, true, false])
    }

    @Test("with nodelay, all accepted requests are served at once; otherwise each waits for its slot at the rate")
    func delays() {
        var (prompt, delaying) = (Self.limiter(), Self.limiter(isDelaying: true))
        #expect((1...3).map { _ in prompt.ask("app", at: .zero).delay } == [.zero, .zero, .zero])
        let delays = (1...4).map { _ in delaying.ask("app", at: .zero).delay }
        #expect(delays == [.zero, .milliseconds(100), .milliseconds(200), .zero])
        #expect(delaying.ask("app", at: .milliseconds(150)).delay == .milliseconds(150))
    }

    @Test("clients have buckets of their own, and an empty bucket is forgotten")
    func clients() {
        var limiter = Self.limiter()
        for _ in 1...3 { _ = limiter.ask("app", at: .zero) }
        #expect(!limiter.ask("app", at: .zero).isTaken)
        #expect(limiter.ask("other", at: .zero).isTaken)
        #expect(limiter.clientCount == 2)
        // The app's is empty after 300 ms.
        #expect(limiter.ask("third", at: .milliseconds(300) - .nanoseconds(1)).isTaken)
        #expect(limiter.clientCount == 2)
        #expect(limiter.ask("fourth", at: .milliseconds(300)).isTaken)
        #expect(limiter.clientCount == 2)
    }

    @Test("every answer says what is left, and when all of the quota is there again, in whole seconds")
    func fields() {
        var limiter = RequestLimiter(RequestLimit(requestsPerSecond: 2, burst: 3))
        let answers = (1...5).map { _ in limiter.ask("", at: .zero) }
        #expect(answers.map { $0.header["RateLimit-Policy"] } == Array(repeating: #""requests";q=4;w=2"#, count: 5))
        let limits = [(3, 1), (2, 1), (1, 2), (0, 2), (0, 2)].map { #""requests";r=\#($0);t=\#($1)"# }
        #expect(answers.map { $0.header["RateLimit"] } == limits)
        #expect(answers.map { $0.header["Retry-After"] } == [nil, nil, nil, nil, "2"])
    }

    @Test("the whole quota is there at the reset, and not before")
    func reset() {
        var limiter = RequestLimiter(RequestLimit(requestsPerSecond: 2, burst: 3))
        for _ in 1...4 { _ = limiter.ask("", at: .zero) }
        var early = limiter
        #expect((1...4).map { _ in limiter.ask("", at: .seconds(2)).isTaken } == [true, true, true, true])
        let almost = Duration.seconds(2) - .nanoseconds(1)
        #expect((1...4).map { _ in early.ask("", at: almost).isTaken } == [true, true, true, false])
    }

    @Test("the limiter reports as many requests left as it would accept", arguments: [1, 3, 7, 20, 999])
    func remaining(rate: Int) throws {
        let limit = RequestLimit(requestsPerSecond: rate, burst: 19)
        for step in 0...40 {
            var limiter = RequestLimiter(limit)
            for _ in 0..<15 { _ = limiter.ask("", at: .zero) }
            let now = limit.interval * step / 3
            let told = limiter.ask("", at: now).header["RateLimit"]
            let more = (0..<100).prefix { _ in limiter.ask("", at: now).isTaken }.count
            #expect(told?.hasPrefix(#""requests";r=\#(more);"#) == true)
        }
    }

    @Test("a client is named as the partition of its quota")
    func partition() {
        var limiter = Self.limiter()
        let header = limiter.ask("app", at: .zero).header
        #expect(header["RateLimit"] == #""requests";r=2;t=1;pk=:YXBw:"#)
        #expect(header["RateLimit-Policy"] == #""requests";q=3;w=1;pk=:YXBw:"#)
    }
}
