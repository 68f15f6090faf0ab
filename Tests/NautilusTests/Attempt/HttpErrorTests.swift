import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpError")
struct HttpErrorTests {
    private static let kinds: [(FailureKind, String)] = [
        (.cancelled, "cancelled"),
        (
            .invalidRequest(.baseUrl(reason: "it names no host")), "The base URL cannot be used: it names no host."
        ),
        (
            .invalidRequest(.emptyRouteComponent(index: 1)),
            "Component 1 of the route is empty, which would address another resource; check the identifier, "
                + "or ask for a trailing slash with HttpRoute(_:trailingSlash:)."
        ),
        (
            .invalidRequest(.method),
            "The method is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        ),
        (
            .invalidRequest(.headerName),
            "A header name is not a token (RFC 9110 §5.6.2): letters, digits, hyphens and a few other signs."
        ),
        (
            .invalidRequest(.headerValue(name: "X-A")),
            "The value of header X-A contains a line break or NUL; remove it before it splits the header."
        ),
        (
            .invalidRequest(.bodyNotEncodable(at: "a.1")),
            "The body cannot be encoded: the value at a.1 has no representation."
        ),
        (
            .invalidRequest(.bodyNotAllowed(.get)),
            "GET does not carry a body; use POST, or put the values into the query."
        ),
        (
            .invalidRequest(.notPositive(parameter: "timeout")),
            "The timeout must be more than zero; use nil for none."
        ),
        (.transport(.cannotConnectToHost), "connection refused, or the host is unreachable (URLError -1004)"),
        (.timeout(.milliseconds(1_500)), "timed out after 1.500 s"),
        (.deadline(.seconds(30)), "the deadline of 30 s passed"),
        (.status(503), "status 503"),
        (.redirect(.tooMany(limit: 20)), "more than 20 redirects"),
        (.redirect(.loop), "the redirects lead in a circle"),
        (.redirect(.downgrade), "the redirect leads from https to http"),
        (.redirect(.invalidLocation), "the redirect's Location is not an http or https URL"),
        (
            .redirect(.bodySpent),
            "the redirect asks for the body again, which is a one-shot stream; declare it with a factory"
        ),
        (
            .redirect(.bodyAcrossOrigins),
            "the redirect leads to another origin, where neither the request's body goes nor a credential comes from"
        ),
        (.responseTooLarge(limit: 1024), "the response is larger than 1024 bytes"),
        (.decoding, "the body does not decode"),
        (
            .refused(.circuitOpen(nextProbe: .seconds(3))),
            "not sent: the circuit is open, the next probe may go in 3 s"
        ),
        (.refused(.circuitOpen(nextProbe: nil)), "not sent: the circuit is open, and its probe under way"),
        (.refused(.tooManyWaiting(limit: 100)), "not sent: 100 requests wait already"),
        (
            .refused(.waitTooLong(.seconds(90), limit: .seconds(60))),
            "not sent: it would wait for 90 s, and waits for 60 s at most"
        ),
        (
            .refused(.waitPastDeadline(.seconds(5), remaining: .seconds(2))),
            "not sent: it would wait for 5 s, with 2 s left until the deadline"
        ),
        (.authorization, "not authorized"),
        (.custom, "thrown by your code"),
    ]

    @Test("every kind of HttpError has a description", arguments: kinds)
    func kind(kind: FailureKind, words: String) {
        let error = HttpError(kind, stage: .send)
        #expect(error.description == "A request failed: \(words)")
        #expect(error.debugDescription == error.description)
        #expect(error.errorDescription == error.description)
        #expect(error.localizedDescription == error.description)
    }

    @Test("a printed HttpError names the request, the attempt, the hint, and the error underneath")
    func whole() throws {
        let origin = try #require(HttpOrigin(.reading("https://api.example.com")))
        let request = HttpRequest(method: .post, url: try .reading("https://api.example.com/a%20b?token=secret"))
        var error = HttpError(
            .status(503),
            stage: .validate,
            request: RequestSummary(request, serviceOrigin: origin),
            retryAfter: .seconds(5),
            underlying: HttpError(.decoding, stage: .decode),
            attempt: 2
        )
        let words =
            "POST https://api.example.com/a%20b failed: status 503; at attempt 2; the server asks to wait 5 s; "
            + "A request failed: the body does not decode"
        #expect(error.description == words)
        error.trace.attempts = [
            .init(number: 1, start: .zero, duration: .zero, outcome: .succeeded(status: 200), decision: nil)
        ]
        #expect(error.debugDescription == "\(words)\n\(error.trace)")
    }

    private struct Silent: Error { let token = "secret" }
    private struct Talking: Error, CustomStringConvertible { let description = "said so" }
    private struct Localized: LocalizedError { let errorDescription: String? = "said so, too" }
    private struct Mute: LocalizedError {}

    private static let underlyings: [(any Error, String)] = [
        (Silent(), "Silent"),
        (Talking(), "said so"),
        (Localized(), "said so, too"),
        (Mute(), "Mute"),
        (CancellationError(), "CancellationError"),
        (URLError(.timedOut, userInfo: ["url": "https://a.example?token=secret"]), "URLError -1001"),
        (NSError(domain: "Domain", code: 3, userInfo: ["url": "https://a.example?token=secret"]), "Domain 3"),
        (CocoaError(.fileNoSuchFile, userInfo: ["path": "secret"]), "CocoaError 4"),
        (
            TransportError.failed(.timedOut, delivery: .maybeExecuted, reason: "no answer"),
            "no answer (URLError -1001)"
        ),
    ]

    @Test("an error underneath is named without what it holds", arguments: underlyings.indices)
    func underlying(index: Int) {
        let (underlying, words) = Self.underlyings[index]
        let error = HttpError(.custom, stage: .send, underlying: underlying)
        #expect(error.description == "A request failed: thrown by your code; \(words)")
    }

    @Test("an error of the package that another's code has passed on says what happened, not that it was thrown there")
    func own() {
        let unreadable = HttpError(.custom, stage: .send, underlying: PaginationError.unreadableLink(relation: "next"))
        #expect(!unreadable.description.contains("thrown by your code"))
    }

    @Test(
        "a decoding error tells the place, not what stood there",
        arguments: [
            (#"{"notes":[{"id":"secret"}]}"#, "expected Int at notes.0.id"),
            (#"{"notes":[{}]}"#, "no value for 'id' at notes.0"),
            (#"{"notes":[{"id":null}]}"#, "null in place of Int at notes.0.id"),
            ("secret", "unreadable data at the top level"),
            (#""secret""#, "expected Dictionary<String, Any> at the top level"),
        ]
    )
    func decoding(json: String, words: String) throws {
        struct List: Decodable { struct Note: Decodable { let id: Int }; let notes: [Note] }
        let thrown = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode(List.self, from: Data(json.utf8))
        }
        let error = HttpError(.decoding, stage: .decode, underlying: thrown)
        #expect(error.description == "A request failed: the body does not decode; \(words)")
    }

    @Test("a decoding error names no key of a dictionary, which is part of the body")
    func dictionaryKeys() throws {
        struct Rates: Decodable { let rates: [String: [String: Int]] }
        let json = #"{"rates":{"secret@example.com":{"also secret":"x"}}}"#
        for decoder in [JSONDecoder(), JsonCoders(dates: .iso8601, keys: .snakeCase).decoder()] {
            let thrown = try #require(throws: DecodingError.self) {
                try decoder.decode(Rates.self, from: Data(json.utf8))
            }
            let error = HttpError(.decoding, stage: .decode, underlying: thrown)
            #expect(error.description == "A request failed: the body does not decode; expected Int at rates.*.*")
        }
    }

    @Test(
        "a body that is no JSON is named",
        arguments: [
            (204, nil, "", "the body is empty (204); unreadable data at the top level"),
            (200, "application/pdf; x=secret", "%PDF", "the body is application/pdf; unreadable data at the top level"),
            (200, "application/problem+json", "secret", "unreadable data at the top level"),
            (200, "secret", "secret", "unreadable data at the top level"),
        ] as [(Int, String?, String, String)]
    )
    func unreadable(status: Int, type: String?, body: String, words: String) throws {
        let thrown = try #require(throws: DecodingError.self) {
            try JSONDecoder().decode([Int].self, from: Data(body.utf8))
        }
        var response = HttpResponse(status: status, body: Data(body.utf8))
        response.header[.contentType] = type
        let error = HttpError(.decoding, stage: .decode, response: response, underlying: thrown)
        #expect(error.description == "A request failed: the body does not decode; \(words)")
    }

    @Test("a call says why it was not retried, and names its request by the type where it has no URL")
    func notRetried() async throws {
        let factory = BackoffRetrier.factory(.standard.with { $0.budget = .shared(EmptyBudget()) })
        let transport = ScriptedTransport(.status(503), .status(404))
        let service = AnyHttpService(apiUrl: "api.example.com/v1", retrierFactory: factory, transport: transport)
        let unpaid = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        #expect(
            unpaid?.description
                == "GET https://api.example.com/v1/things failed: status 503; not retried: the retry budget is used up"
        )
        let missing = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        #expect(missing?.description == "GET https://api.example.com/v1/things failed: status 404")

        let nowhere = AnyHttpService(apiUrl: "", transport: transport)
        let unbuilt = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: nowhere) }
        #expect(unbuilt?.description.hasPrefix("Ping failed: ") == true)
    }

    private final class EmptyBudget: RetryBudget {
        func withdraw(_ reason: RetryCost.Reason) -> Bool { false }
        func deposit(refunding reason: RetryCost.Reason?) {}
    }

    @Test(
        "F15: a local server that does not answer TLS in time is asked once, and the error says so",
        arguments: [
            ("https://localhost:8080", Delivery.notSent, true), ("https://[::1]", .notSent, true),
            ("https://127.0.0.1:8443", .maybeExecuted, false), ("http://localhost:8080", .notSent, false),
            ("https://api.example.com", .notSent, false),
        ]
    )
    func silentTls(base: String, delivery: Delivery, isTold: Bool) throws {
        let request = HttpRequest(method: .get, url: try .reading("\(base)/a"))
        let summary = RequestSummary(request, serviceOrigin: try #require(HttpOrigin(.reading(base))))
        for kind in [FailureKind.transport(.timedOut), .timeout(.seconds(5))] {
            let error = HttpError(kind, stage: .send, delivery: delivery, request: summary)
            #expect(error.description.contains("TLS did not answer") == isTold)
            #expect(error.description.contains("begin the base URL with http://") == isTold)
            #expect(RetryCondition.standard.verdict(for: error).isRetryable == !isTold)
        }
    }

    @Test(
        "a local server asked over https is told apart from one that is down",
        arguments: [
            ("https://localhost:8080", true), ("http://localhost:8080", false), ("https://api.example.com", false),
        ]
    )
    func scheme(base: String, isTold: Bool) throws {
        let request = HttpRequest(method: .get, url: try .reading("\(base)/a"))
        let origin = try #require(HttpOrigin(.reading(base)))
        let summary = RequestSummary(request, serviceOrigin: origin)
        let error = HttpError(.transport(.secureConnectionFailed), stage: .send, request: summary)
        #expect(error.description.contains("begin the base URL with http://") == isTold)
    }

    @Test("an HttpError keeps 64 KiB of the body in a copy, and a smaller body whole")
    func body() throws {
        for count in [0, HttpError.bodyLimit - 1, HttpError.bodyLimit, HttpError.bodyLimit + 1, 1_000_000] {
            let response = HttpResponse(status: 500, body: Data(repeating: 7, count: count))
            let kept = try #require(HttpError(.status(500), stage: .validate, response: response).response)
            // First the count: the difference of two large bodies takes minutes to tell.
            try #require(kept.body.count == min(count, 65_536))
            #expect(kept.body.allSatisfy { $0 == 7 })
            #expect(kept.body.startIndex == 0)
            #expect(kept.status == 500)
        }
    }

    @Test("asAuthorizationFailure keeps the response and adds the refresh's error")
    func authorization() {
        let response = HttpResponse(status: 401, body: Data())
        let error = HttpError(.status(401), stage: .validate, response: response, attempt: 2)
            .asAuthorizationFailure(Talking())
        #expect(error.kind == .authorization)
        #expect(error.status == 401)
        #expect(error.attempt == 2)
        #expect(error.underlying is Talking)
    }
}
