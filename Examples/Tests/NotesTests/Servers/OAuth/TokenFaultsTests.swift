import DemoServers
import Foundation
import Testing

@Suite("TokenFaults", .timeLimit(.minutes(10)))
struct TokenFaultsTests {
    @Test("orders are carried out one after the other, each for as many requests as it says")
    func order() {
        let bench = OAuthBench()
        bench.server.faults.add(.requestDropped, count: 2)
        bench.server.faults.add(.answerLost, count: 0)
        bench.server.faults.add(.answer(ApiAnswer(status: 503, header: ["Retry-After": "3"])), count: 1)
        let pair = bench.server.tokens.signIn(at: .zero)
        let answers = (0..<4).map { _ in bench.refresh(pair.refreshToken) }
        #expect(answers.map { $0?.status } == [nil, nil, 503, 200])
        #expect(answers[2]?.header["Retry-After"] == "3")
        // Only the last one reached the authority: the token was good until then.
        #expect(bench.counters.refreshes == 1)
        #expect(bench.counters.tokenRequestsDropped == 2)
        #expect(bench.counters.tokenRequestsFailed == 1)
        #expect(bench.counters.answersLost == 0)
    }

    @Test("an answer that is lost has spent the token: without grace the session ends, with it nothing is lost")
    func lost() {
        for grace in [Duration.zero, .seconds(10)] {
            let bench = OAuthBench()
            bench.server.tokens.gracePeriod = grace
            bench.server.faults.add(.answerLost, count: 1)
            let pair = bench.server.tokens.signIn(at: .zero)
            #expect(bench.refresh(pair.refreshToken) == nil)
            #expect(bench.refresh(pair.refreshToken)?.status == (grace == .zero ? 400 : 200))
            #expect(bench.counters.answersLost == 1)
            #expect(bench.counters.refreshes == 2)
            #expect(bench.counters.reuseDetected == (grace == .zero ? 1 : 0))
            #expect(bench.counters.graceReuses == (grace == .zero ? 0 : 1))
        }
    }

    @Test("orders that are withdrawn do no harm, and other endpoints hear of none")
    func healed() {
        let bench = OAuthBench()
        bench.server.faults.add(.requestDropped, count: .max)
        #expect(bench.post(["grant_type": "refresh_token"]) == nil)
        #expect(bench.post(.revoke, ["token": "a"])?.status == 200)
        #expect(bench.get(.metadata)?.status == 200)
        bench.server.faults.removeAll()
        #expect(bench.post(["grant_type": "refresh_token"])?.status == 400)
        #expect(bench.counters.tokenRequestsDropped == 1)
    }
}
