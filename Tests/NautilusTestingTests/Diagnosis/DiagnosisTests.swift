import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("Contradictions that diagnose() lists")
struct DiagnosisTests {
    @Test("diagnose() finds nothing in a service whose rules fit together", arguments: DiagnosisCase.sound)
    func sound(_ sound: DiagnosisCase) {
        #expect(sound.service.diagnose(sound.request) == [])
    }

    @Test("each contradiction is found, and nothing beside it", arguments: DiagnosisCase.contradictions)
    func contradiction(_ contradiction: DiagnosisCase) {
        #expect(contradiction.service.diagnose(contradiction.request) == contradiction.expected)
    }

    @Test("diagnose() of a service leaves out what concerns a single request")
    func serviceAlone() {
        let service = DiagnosisCase.service(BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }))
        let request = Ping(timeout: .seconds(60), deadline: .seconds(1))
        #expect(service.diagnose() == [.unlimitedBudget(of: .retries)])
        #expect(service.diagnose(request).count == 2)
        // A service that another one hides is the same.
        #expect(AnyHttpService(service).diagnose() == service.diagnose())
    }

    @Test(
        "each finding says what to do",
        arguments: [
            (
                .attemptsDoNotFit(attempts: 4, timeout: .seconds(1), delays: .zero, deadline: .seconds(2)),
                """
                4 attempts of up to 1 s do not fit into a deadline of 2 s, so that a silent server gets fewer: \
                lower `timeout` to 500 ms or less, or `maxAttempts`, or raise `deadline`
                """
            ),
            (
                .attemptsDoNotFit(attempts: 2, timeout: .seconds(1), delays: .seconds(2), deadline: .seconds(2)),
                """
                2 attempts of up to 1 s and delays of 2 s do not fit into a deadline of 2 s, so that a silent server \
                gets fewer: lower `maxAttempts`, or raise `deadline`
                """
            ),
            (
                .madeAnew(type: "CircuitBreaker", property: "interceptors"),
                """
                CircuitBreaker is made anew whenever `interceptors` is read, so that no two calls share it: \
                keep it in a stored property
                """
            ),
            (
                .hedgeTooLate(after: .seconds(1), limit: .milliseconds(800)),
                """
                a second send after 1 s comes too late for a limit of 800 ms: \
                hedge earlier, raise the limit, or set `allowsHedging` to false
                """
            ),
            (
                .retryAfterCapBeyondDeadline(cap: .seconds(30), deadline: .seconds(5)),
                """
                no Retry-After of up to 30 s is waited for when the deadline is 5 s: lower `retryAfterCap`, or raise `deadline`
                """
            ),
            (
                .attemptsOverCeiling(attempts: 8, ceiling: 7),
                """
                the retriers allow 8 attempts, and the service 7: raise the service's `maxAttempts`, or lower the retriers'
                """
            ),
            (
                .retriesNonIdempotentRequests,
                """
                a POST that the server may have executed is repeated, and executed twice: leave \
                `retriesNonIdempotentRequests` false, and send an `Idempotency-Key`
                """
            ),
            (
                .unlimitedBudget(of: .hedges),
                """
                nothing bounds the hedges of all calls together, which may hold a struggling server down: leave `budget` at \
                its default, or share one
                """
            ),
            (
                .budgetFilledTwice,
                """
                two retriers note each success in the same budget, which then allows twice as much: keep one of them, or \
                give each a budget of its own
                """
            ),
            (
                .authorizationBehindRetries,
                """
                a 401 is answered by sending the rejected credential again, and not by a refresh: put the retrier that \
                authorizes first in `.composed`
                """
            ),
            (
                .credentialInHeader(.authorization),
                """
                `Authorization` in `header` goes out with every request and is not refreshed when the server rejects it: have a \
                retrier put it on, made by `authorization` of a `RefreshCoordinator` or a session
                """
            ),
            (
                .separatorInRoute(component: 1),
                """
                component 1 of the route contains `/` or `?`, which goes out as %2F or %3F: write one component for each \
                part of the path, and what follows the `?` into `query`
                """
            ),
        ] as [(PolicyFinding, String)]
    )
    func descriptions(finding: PolicyFinding, text: String) {
        #expect(finding.description == text)
    }

    @Test("plain http to another machine says what to do")
    func plainHttp() {
        let findings = AnyHttpService(apiUrl: "http://api.example.com").diagnose()
        #expect(
            findings.map(\.description) == [
                """
                calls go over plain http to http://api.example.com, and everybody on the way can read and change them: begin \
                the base URL with https://, or leave `usesSecureProtocol` true
                """
            ]
        )
    }

    @Test("a path in one component of a route is found, by its place")
    func separators() {
        let service = AnyHttpService(apiUrl: "api.example.com")
        func findings(_ route: HttpRoute) -> [PolicyFinding] { service.diagnose(AnyRequest(.get, route)) }
        #expect(findings(["notes", "7/comments"]) == [.separatorInRoute(component: 1)])
        let twice: [PolicyFinding] = [.separatorInRoute(component: 0), .separatorInRoute(component: 2)]
        #expect(findings(["notes?page=2", 7, "/"]) == twice)
        #expect(findings(["notes", "a b", "50%"]) == [])
    }
}
