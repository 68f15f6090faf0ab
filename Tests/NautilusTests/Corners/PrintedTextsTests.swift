import Foundation
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The texts of errors, traces and observers")
struct PrintedTextsTests {
    private static let codes: [(URLError.Code, String)] = [
        (.networkConnectionLost, "connection lost"), (.timedOut, "timed out"), (.cannotFindHost, "host not found"),
        (.notConnectedToInternet, "no network connection"), (.secureConnectionFailed, "no secure connection"),
    ]

    @Test("F31: a failure of the network is named in words, with its code, once", arguments: codes)
    func once(code: URLError.Code, words: String) {
        let plain = HttpError(wrapping: TransportError(code), stage: .send, delivery: .maybeExecuted)
        #expect(plain.description.hasPrefix("A request failed: \(words) (URLError \(code.rawValue))"))
        #expect(plain.description.components(separatedBy: "URLError").count == 2)
        #expect(plain.description.components(separatedBy: words).count == 2)
        #expect("\(TransportError(code))" == "\(words) (URLError \(code.rawValue))")

        let known = TransportError.failed(code, delivery: .maybeExecuted, reason: "the proxy said no")
        let detailed = HttpError(wrapping: known, stage: .send, delivery: .maybeExecuted)
        #expect(detailed.description == "A request failed: \(words) (URLError \(code.rawValue)); the proxy said no")
    }

    @Test("F31: a response that is too large is said once, with the remedy")
    func tooLarge() {
        let error = HttpError(
            wrapping: TransportError.responseTooLarge(limit: 100),
            stage: .send,
            delivery: .maybeExecuted
        )
        #expect(
            error.description == "A request failed: the response is larger than 100 bytes; "
                + "raise the transport's limit if it should be"
        )
    }

    @Test("F31: an event that is too large, or that does not decode, is not called an empty body")
    func events() {
        let large = HttpBodyStream.ReadError.tooLarge(limit: 100)
        #expect(
            HttpError(ending: large).description
                == "A request failed: the body, or a line or an event in it, is larger than the reader's 100 bytes"
        )
        let header: HttpHeader = [.contentType: "text/event-stream; charset=utf-8"]
        let head = HttpResponse(status: 200, header: header, body: Data())
        let unreadable = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
        let error = HttpError(.decoding, stage: .decode, response: head, underlying: unreadable)
        #expect(error.description.contains("in the data of an event"))
        #expect(!error.description.contains("empty"))
    }

    @Test("F31: every code of URL loading is a phrase, followed by its number")
    func everyCode() {
        for code in RetryCondition.standardCodes.keys {
            #expect(!code.reason.isEmpty && !code.reason.hasSuffix("."))
            #expect(FailureKind.transport(code).description == "\(code.reason) (URLError \(code.rawValue))")
        }
        #expect(FailureKind.custom.description == "thrown by your code")
    }

    @Test("F31: a call is printed as call 4, its attempt as attempt 2, and an enclosing call beside it")
    func identity() {
        let call = CallIdentity(id: 4, requestType: Ping.self)
        #expect("\(call)" == "Ping (call 4)")
        #expect(call.description(of: 2) == "Ping (call 4, attempt 2)")
        let inner = CallIdentity(id: 5, parent: 4, requestType: Ping.self)
        #expect("\(inner)" == "Ping (call 5 in call 4)")
        #expect(inner.description(of: 1) == "Ping (call 5 in call 4, attempt 1)")
        #expect("\(CallIdentity.none)" == "no call")
    }

    @Test("F31: outcomes, sources and decisions read like the timeline, without the names of types")
    func readable() {
        let lost = CallTrace.Outcome.failed(.send, .transport(.networkConnectionLost), .maybeExecuted)
        #expect("\(lost)" == "connection lost (URLError -1005), in send (maybeExecuted)")
        #expect("\(CallTrace.Outcome.failed(.validate, .status(503), .rejected))" == "status 503 (rejected)")
        #expect("\(CallTrace.Outcome.succeeded(status: 204))" == "204")
        #expect("\(CallTrace.Exchange.Outcome.failed(.timeout(.seconds(7))))" == "timed out after 7 s")
        #expect("\(CallTrace.Exchange.Outcome.answered(status: 304))" == "304")
        #expect("\(CallTrace.Exchange.Outcome.unfinished)" == "still under way")
        #expect("\(CallTrace.Source.interceptor(serverStatus: 304))" == "stored; the server answered 304")
        #expect("\(CallTrace.Source.server)" == "the server")
        #expect("\(CallTrace.Decision.Action.retry(after: .seconds(1)))" == "retry in 1 s")
        let attempt = CallTrace.Attempt(
            number: 1,
            start: .zero,
            duration: .milliseconds(12),
            outcome: lost,
            decision: .init(retrier: "Own", action: .stop, reason: .budget)
        )
        #expect(
            "\(attempt)" == "connection lost (URLError -1005), in send, after 12 ms (maybeExecuted); "
                + "Own: no retry (the retry budget is used up)"
        )
    }

    private static func service(
        _ transport: ScriptedTransport,
        _ retriers: any RetrierFactory,
        _ lines: Locked<[String]>,
        _ clock: ManualClock = ManualClock()
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(apiUrl: "a.com", retrierFactory: retriers, transport: transport, clock: clock).with {
            $0.observer = PrintingObserver { line in
                lines.withLock { $0.append(line.replacing(/call \d+/, with: "call n")) }
            }
        }
    }

    @Test("F31: a retrier that gives up with another error says so")
    func gaveUp() async {
        let lines = Locked<[String]>([])
        let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: ManualClock()) { _ in
            throw HttpError(.decoding, stage: .decode)
        }
        let transport = ScriptedTransport(.status(401))
        let authorized = Self.service(transport, AuthorizationRetrier.factory(coordinator), lines)
        let error = await Ping.get.result(with: authorized).error
        let decision = error?.trace.attempts.last?.decision
        #expect(decision?.action == .fail)
        #expect(decision.map { "\($0)" }?.hasPrefix("AuthorizationRetrier: gave up: ") == true)
        #expect(lines.withLock { $0 }.last?.contains("AuthorizationRetrier: gave up: ") == true)

        var signedOut = HttpError(.authorization, stage: .prepare, underlying: RefreshError.signedOut)
        #expect("\(signedOut.asReason)" == "nobody is signed in, or the user has signed out meanwhile")
        signedOut.underlying = nil
        #expect("\(signedOut.asReason)" == "not authorized")
        let nested = RefreshError.sessionExpired(underlying: RefreshError.Terminal("invalid_grant; really"))
        let expired = HttpError(.authorization, stage: .prepare, underlying: nested)
        #expect("\(expired.asReason)" == "the session has expired (invalid_grant; really)")
    }

    @Test("F31: a call of nobody who is signed in says so beside the decision not to retry it")
    func nobody() async {
        let lines = Locked<[String]>([])
        let coordinator = RefreshCoordinator<Token>(credential: nil, clock: ManualClock()) { $0 }
        let retriers = AnyRetrierFactory.composed(
            AuthorizationRetrier.factory(coordinator),
            BackoffRetrier.factory(.atOnce)
        )
        _ = await Ping.get.result(with: Self.service(ScriptedTransport(), retriers, lines))
        #expect(lines.withLock { $0 }.first?.contains("no retry (nobody is signed in") == true)
    }

    @Test("F31: the observer's line of a stored answer says that the server has answered 304")
    func stored() async throws {
        struct Stored: NetworkInterceptor {
            func intercept(
                _ request: HttpRequest,
                context: AttemptContext,
                next: Next
            ) async throws -> HttpResponse<Data> {
                var response = try await next(request)
                response.status = 200
                return response
            }
        }
        let lines = Locked<[String]>([])
        let service = Self.service(ScriptedTransport(.status(304)), .never, lines).with {
            $0.interceptors = [Stored()]
        }
        _ = try await Ping.get.schedule(with: service)
        #expect(
            lines.withLock { $0 } == [
                "Ping (call n, attempt 1): GET https://a.com/things: 200 after 0 ms, stored; the server answered 304"
            ]
        )
    }

    @Test("F31: a feed's break has a line with the reason and the delay until the next connection")
    func feed() async throws {
        try await simulate { simulation in
            let lines = Locked<[String]>([])
            let event = ["Content-Type": "text/event-stream"] as HttpHeader
            let transport = ScriptedTransport(
                .chunks(
                    header: event,
                    [Data("retry: 3000\ndata: a\n\n".utf8)],
                    endingWith: TransportError(.networkConnectionLost)
                ),
                .status(204)
            )
            let retriers = steadyBackoff()
            let service = Self.service(transport, retriers, lines, simulation.clock)
            for try await _ in Ping.get.events(with: service) {}
            let ends = lines.withLock { $0 }.filter { $0.contains("connection ended") }
            #expect(ends.count == 1)
            let line = try #require(ends.first)
            #expect(line.contains("(call n): connection ended after 0 ms: connection lost (URLError -1005); "))
            #expect(line.contains("BackoffRetrier: retry in 3.500 s"))
        }
    }

    @Test("F31: a feed that ends for good has a line that says why no connection follows")
    func feedEnds() async {
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport(
            .chunks(header: ["Content-Type": "text/event-stream"], [Data("data: a\n\n".utf8)], endingWith: nil)
        )
        let never = AnyRetrierFactory { ScriptedStop() }
        do {
            for try await _ in Ping.get.events(with: Self.service(transport, never, lines)) {}
        } catch {}
        let ends = lines.withLock { $0 }.filter { $0.contains("connection ended") }
        #expect(ends.count == 1)
        #expect(ends.first?.hasSuffix("ScriptedStop: no retry (enough)") == true)
    }

    private struct ScriptedStop: Retrier {
        var reason: RetryReason? { .custom("enough") }
        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }
    }
}
