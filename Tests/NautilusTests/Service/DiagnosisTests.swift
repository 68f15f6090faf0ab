import Testing

@testable import Nautilus
@testable import NautilusTraffic

@Suite("diagnose() lists what contradicts itself, and nothing else")
struct DiagnosisTests {
    @Test("what is sound has no finding", arguments: DiagnosisCase.sound)
    func sound(_ sound: DiagnosisCase) {
        #expect(sound.service.diagnose(sound.request) == [])
    }

    @Test("each contradiction is found, and nothing beside it", arguments: DiagnosisCase.contradictions)
    func contradiction(_ contradiction: DiagnosisCase) {
        #expect(contradiction.service.diagnose(contradiction.request) == contradiction.expected)
    }

    @Test("what concerns a request is not said of the service, and the rest is")
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
                .interceptorOrder(
                    outer: "CircuitBreaker",
                    inner: "ConcurrencyLimit",
                    because: InterceptorPlace.refusing.reason
                ),
                """
                ConcurrencyLimit belongs before CircuitBreaker in `interceptors`: a request that has waited must still \
                be held back when the circuit has opened meanwhile
                """
            ),
            (
                .hedgeTooLate(after: .seconds(1), limit: .milliseconds(800)),
                """
                a second send after 1 s comes too late for a limit of 800 ms: \
                hedge earlier, raise the limit, or set `allowsHedging` to false
                """
            ),
        ] as [(PolicyFinding, String)]
    )
    func descriptions(finding: PolicyFinding, text: String) {
        #expect(finding.description == text)
    }
}
