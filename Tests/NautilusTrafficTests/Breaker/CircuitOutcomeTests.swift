import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("OriginVerdict: failures of an origin")
struct CircuitOutcomeTests {
    private static let serverErrors = HttpStatusCodes(500...599)

    @Test(
        "an answer counts against the origin when its status is a failing one",
        arguments: [
            (200, OriginVerdict.success), (304, .success), (400, .success), (404, .success), (408, .success),
            (429, .success), (499, .success), (500, .failure), (503, .failure), (599, .failure), (600, .success),
        ]
    )
    func statuses(status: Int, expected: OriginVerdict) {
        #expect(OriginVerdict(.test(status), from: trafficOrigin, failing: Self.serverErrors) == expected)
    }

    @Test("429 counts when it is among the failing statuses")
    func tooManyRequests() {
        let statuses: HttpStatusCodes = [429, HttpStatusCodes(500...599)]
        #expect(OriginVerdict(.test(429), from: trafficOrigin, failing: statuses) == .failure)
    }

    @Test(
        "a failing answer counts against the origin that gave it, and not against the one that redirected there",
        arguments: [
            ("https://api.example.com/elsewhere", OriginVerdict.failure), ("https://other.example.com/", .success),
        ]
    )
    func redirected(url: String, expected: OriginVerdict) {
        let response = HttpResponse.test(503, url: url)
        #expect(OriginVerdict(response, from: trafficOrigin, failing: Self.serverErrors) == expected)
    }

    @Test(
        "only failures that say something about the server count for a circuit",
        arguments: [
            (FailureKind.timeout(.seconds(1)), OriginVerdict.failure), (.deadline(.seconds(1)), .nothing),
            (.transport(.cannotConnectToHost), .failure), (.transport(.networkConnectionLost), .failure),
            (.transport(.timedOut), .failure), (.transport(.serverCertificateUntrusted), .failure),
            (.transport(.notConnectedToInternet), .nothing), (.transport(.dataNotAllowed), .nothing),
            (.transport(.internationalRoamingOff), .nothing), (.transport(.badURL), .nothing),
            (.transport(.cannotWriteToFile), .nothing), (.transport(.cancelled), .nothing),
            (.cancelled, .nothing), (.authorization, .nothing), (.custom, .nothing), (.decoding, .nothing),
            (.invalidRequest(.method), .nothing), (.refused(.tooManyWaiting(limit: 1)), .nothing),
            (.redirect(.loop), .success), (.responseTooLarge(limit: 1), .success),
        ]
    )
    func kinds(kind: FailureKind, expected: OriginVerdict) {
        #expect(OriginVerdict(HttpError(kind, stage: .send)) == expected)
    }

    @Test(
        "a deadline counts when most of the attempt's time has passed after the request was sent",
        arguments: [
            (1_000, 0, nil, OriginVerdict.failure), (500, 0, nil, .failure), (499, 0, nil, .nothing),
            (1_000, 500, nil, .failure), (1_000, 501, nil, .nothing), (1_000, 1_000, nil, .nothing),
            // A later attempt, which had less.
            (300, 0, 600, .failure), (299, 0, 600, .nothing), (600, 301, 600, .nothing),
        ] as [(Int, Int, Int?, OriginVerdict)]
    )
    func deadlines(duration: Int, wait: Int, remaining: Int?, expected: OriginVerdict) throws {
        var exchange = try CallTrace.Exchange.failed(.deadline(.seconds(1)), after: .milliseconds(duration))
        exchange.connectionWait = .milliseconds(wait)
        var error = HttpError(.deadline(.seconds(1)), stage: .send)
        error.exchange = exchange
        #expect(OriginVerdict(error, remaining: remaining.map { .milliseconds($0) }) == expected)
    }

    @Test("a failure before the request was sent says nothing: the refresh that it waited for failed elsewhere")
    func prepare() {
        #expect(OriginVerdict(HttpError(.deadline(.seconds(1)), stage: .prepare)) == .nothing)
        #expect(OriginVerdict(HttpError(.transport(.cannotConnectToHost), stage: .prepare)) == .nothing)
    }

    @Test("a failure after a redirect to another origin is a success of the first")
    func failedElsewhere() {
        var error = HttpError(.transport(.networkConnectionLost), stage: .send)
        error.redirects = CallTrace.Redirects()
        #expect(OriginVerdict(error) == .failure)
        error.redirects?.leftOrigin = true
        #expect(OriginVerdict(error) == .success)
    }

    @Test("another call's error does not count against an origin; an interceptor's counts by its code")
    func thrown() {
        struct Own: Error {}
        var final = HttpError(.timeout(.seconds(1)), stage: .send)
        final.markFinal()
        #expect(OriginVerdict(final) == .nothing)
        #expect(OriginVerdict(Own()) == .nothing)
        #expect(OriginVerdict(CancellationError()) == .nothing)
        #expect(OriginVerdict(URLError(.networkConnectionLost)) == .failure)
        #expect(OriginVerdict(URLError(.cancelled)) == .nothing)
        let lost = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
        #expect(OriginVerdict(lost) == .failure)
        #expect(OriginVerdict(TransportError.responseTooLarge(limit: 1)) == .success)
    }
}

extension CallTrace.Exchange {
    /// An exchange of the first attempt that has ended so.
    fileprivate static func failed(_ kind: FailureKind, after duration: Duration) throws -> CallTrace.Exchange {
        CallTrace.Exchange(
            call: 1,
            number: 1,
            root: 1,
            attempt: 1,
            role: .main,
            request: try #require(RequestSummary(trafficRequest, serviceOrigin: trafficOrigin)),
            start: .zero,
            duration: duration,
            outcome: .failed(kind),
            delivery: .maybeExecuted
        )
    }
}
