import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import NautilusFleets

@Suite("The modelled server")
struct ServerModelTests {
    /// Requests that arrive, and what becomes of them: "when, what", times in milliseconds.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let server: FleetServer
        let arrivals: [Int]
        let verdicts: [String]

        init(_ name: String, _ server: FleetServer, arrivals: [Int], verdicts: [String]) {
            (testDescription, self.server, self.arrivals, self.verdicts) = (name, server, arrivals, verdicts)
        }
    }

    @Test(
        "capacity and queue decide when a request is served, and whether",
        arguments: [
            Case("no limit", FleetServer(), arrivals: [0, 5], verdicts: ["0 served", "5 served"]),
            Case(
                "one worker serves one after the other",
                .workers(1),
                arrivals: [0, 0, 25],
                verdicts: ["10 served", "20 served", "35 served"]
            ),
            Case(
                "two workers serve two at once",
                .workers(2),
                arrivals: [0, 0, 0, 9, 31],
                verdicts: ["10 served", "10 served", "20 served", "20 served", "41 served"]
            ),
            Case(
                "the queue is full at its limit, and has room when the first has left it",
                .workers(1, queueLimit: 1),
                arrivals: [0, 0, 0, 9, 10, 11],
                verdicts: ["10 served", "20 served", "0 503", "9 503", "30 served", "11 503"]
            ),
            Case(
                "without a queue, a request is served at once or not at all",
                .workers(1, queueLimit: 0),
                arrivals: [0, 9, 10],
                verdicts: ["10 served", "9 503", "20 served"]
            ),
            Case(
                "who would wait too long waits as long as it may, and costs nothing",
                .workers(1, queueTimeout: .milliseconds(10)),
                arrivals: [0, 0, 0, 5, 10],
                verdicts: ["10 served", "20 served", "10 503", "15 503", "30 served"]
            ),
            Case(
                "who waits in vain takes a place in the queue until then",
                .workers(1, queueLimit: 2, queueTimeout: .milliseconds(10)),
                arrivals: [0, 0, 0, 9, 10],
                verdicts: ["10 served", "20 served", "10 503", "9 503", "30 served"]
            ),
        ]
    )
    func queue(_ test: Case) {
        #expect(test.server.verdicts(at: test.arrivals) == test.verdicts)
    }

    @Test(
        "an outage takes what it takes, from its first moment to its last",
        arguments: [
            Case(
                "a stalled server does no work, and keeps the queue",
                .workers(1, outages: [FleetOutage(.stalled, from: .milliseconds(10), for: .milliseconds(10))]),
                arrivals: [0, 5, 25],
                verdicts: ["10 served", "30 served", "40 served"]
            ),
            Case(
                "work that a stall interrupts goes on after it",
                .workers(1, outages: [FleetOutage(.stalled, from: .milliseconds(15), for: .milliseconds(10))]),
                arrivals: [10],
                verdicts: ["30 served"]
            ),
            Case(
                "at half the speed, five milliseconds' work are done in ten",
                .workers(
                    2,
                    outages: [FleetOutage(.slowed(to: 0.5), from: .milliseconds(10), for: .milliseconds(10))]
                ),
                arrivals: [10, 16],
                verdicts: ["25 served", "28 served"]
            ),
            Case(
                "two outages of one request's time",
                .workers(
                    1,
                    outages: [
                        FleetOutage(.stalled, from: .milliseconds(7), for: .milliseconds(100)),
                        FleetOutage(.stalled, from: .milliseconds(2), for: .milliseconds(3)),
                    ]
                ),
                arrivals: [0],
                verdicts: ["113 served"]
            ),
            Case(
                "an unreachable server refuses, loses what it has, and begins anew",
                .workers(1, outages: [FleetOutage(.unreachable, from: .milliseconds(15), for: .milliseconds(10))]),
                arrivals: [0, 1, 2, 14, 15, 24, 25],
                verdicts: [
                    "10 served", "15 lost", "15 lost", "15 lost", "15 unreachable", "24 unreachable", "35 served",
                ]
            ),
            Case(
                "a crash empties the queue, which has all its room after it",
                .workers(
                    1,
                    queueLimit: 2,
                    outages: [FleetOutage(.unreachable, from: .milliseconds(5), for: .milliseconds(5))]
                ),
                arrivals: [0, 0, 0, 10, 10, 10, 10],
                verdicts: ["5 lost", "5 lost", "5 lost", "20 served", "30 served", "40 served", "10 503"]
            ),
            Case(
                "a failing server answers at once, also with all workers busy",
                .workers(
                    1,
                    queueLimit: 0,
                    outages: [
                        FleetOutage(.failing(status: 502, share: 1), from: .milliseconds(5), for: .milliseconds(5))
                    ]
                ),
                arrivals: [0, 4, 5, 9, 10],
                verdicts: ["10 served", "4 503", "5 502", "9 502", "20 served"]
            ),
            Case(
                "an outage of no time is none",
                .workers(1, outages: [FleetOutage(.unreachable, from: .milliseconds(5), for: .seconds(-1))]),
                arrivals: [5],
                verdicts: ["15 served"]
            ),
        ]
    )
    func outages(_ test: Case) {
        #expect(test.server.verdicts(at: test.arrivals) == test.verdicts)
    }

    @Test("a share of the requests fails: below the draw, not at it", arguments: [(0.49, true), (0.5, false)])
    func shares(draw: Double, fails: Bool) {
        let outage = FleetOutage(.failing(status: 503, share: 0.5), from: .zero, for: .seconds(1))
        let refusing = FleetServer(outages: [outage])
        let faulty = FleetServer(failureRate: 0.5)
        let random = FixedRandomSource(draw)
        #expect(refusing.verdicts(at: [0], random: random) == [fails ? "0 503" : "0 served"])
        #expect(faulty.verdicts(at: [0], random: random) == [fails ? "0 500" : "0 served"])
    }

    @Test(
        "a limiter lets a burst pass, then the rate, and says in whole seconds when to come back",
        arguments: [
            Case(
                "ten a second",
                FleetServer(rateLimit: FleetRateLimit(perSecond: 10)),
                arrivals: [0, 99, 100, 100],
                verdicts: ["0 served", "99 429 after 1", "100 served", "100 429 after 1"]
            ),
            Case(
                "ten a second, three at once",
                FleetServer(rateLimit: FleetRateLimit(perSecond: 10, burst: 3)),
                arrivals: [0, 0, 0, 0, 100, 100, 1000, 1000, 1000, 1000],
                verdicts: [
                    "0 served", "0 served", "0 served", "0 429 after 1", "100 served", "100 429 after 1",
                    "1000 served", "1000 served", "1000 served", "1000 429 after 1",
                ]
            ),
            Case(
                "one in two seconds",
                FleetServer(rateLimit: FleetRateLimit(perSecond: 0.5)),
                arrivals: [0, 0, 1000, 1001, 2000],
                verdicts: ["0 served", "0 429 after 2", "1000 429 after 1", "1001 429 after 1", "2000 served"]
            ),
            Case(
                "who is refused takes nothing from the others' work",
                .workers(1, rateLimit: FleetRateLimit(perSecond: 100)),
                arrivals: [0, 1, 10],
                verdicts: ["10 served", "1 429 after 1", "20 served"]
            ),
        ]
    )
    func rateLimit(_ test: Case) {
        #expect(test.server.verdicts(at: test.arrivals) == test.verdicts)
    }

    @Test("a write with an old version conflicts; each path has its own")
    func versions() throws {
        var model = ServerModel(FleetServer(hasVersions: true), random: FixedRandomSource(0))
        func outcome(_ method: HttpMethod, _ path: String, ifMatch: String? = nil) throws -> ServerModel.Outcome {
            var request = HttpRequest(method: method, url: try #require(URL(string: "https://example.com\(path)")))
            request.header["If-Match"] = ifMatch
            return model.arrival(of: request, at: .zero, work: .zero).outcome
        }
        #expect(try outcome(.get, "/a") == .served(version: 0))
        #expect(try outcome(.put, "/a", ifMatch: "\"0\"") == .served(version: 1))
        #expect(try outcome(.put, "/a", ifMatch: "\"0\"") == .conflict(version: 1))
        #expect(try outcome(.get, "/a") == .served(version: 1))
        #expect(try outcome(.put, "/a", ifMatch: "*") == .served(version: 2))
        #expect(try outcome(.post, "/a") == .served(version: 3))
        #expect(try outcome(.get, "/b") == .served(version: 0))
    }
}

extension FleetServer {
    /// A server whose workers take 10 ms for a request.
    fileprivate static func workers(
        _ count: Int,
        queueLimit: Int? = nil,
        queueTimeout: Duration? = nil,
        outages: [FleetOutage] = [],
        rateLimit: FleetRateLimit? = nil
    ) -> FleetServer {
        FleetServer(
            workers: count,
            serviceTime: .constant(.milliseconds(10)),
            queueLimit: queueLimit,
            queueTimeout: queueTimeout,
            outages: outages,
            rateLimit: rateLimit
        )
    }

    fileprivate func verdicts(at arrivals: [Int], random: any RandomSource = FixedRandomSource(0)) -> [String] {
        var model = ServerModel(self, random: random)
        guard let url = URL(string: "https://example.com") else { return [] }
        return arrivals.map { time in
            let work = serviceTime.draw(from: random)
            return model.arrival(of: HttpRequest(url: url), at: .milliseconds(time), work: work).text
        }
    }
}

extension ServerModel.Verdict {
    fileprivate var text: String {
        let what =
            switch outcome {
            case .served: "served"
            case .conflict: "412"
            case .failed: "500"
            case .refused(let status, nil): "\(status)"
            case .refused(let status, let seconds?): "\(status) after \(seconds)"
            case .lost(.cannotConnectToHost, .notSent): "unreachable"
            case .lost(.networkConnectionLost, .maybeExecuted): "lost"
            case .lost(let code, let delivery): "\(code) \(delivery)"
            }
        return "\(Int(time / .milliseconds(1))) \(what)"
    }
}
