import Foundation
import Nautilus
import Testing

@testable import NautilusFleets

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("The report of a fleet")
struct FleetReportTests {
    @Test("sends per call, completion and goodput are the sums of the seconds")
    func figures() {
        let report = FleetReport.of("p", begun: [10, 10], sends: [12, 18], succeeded: [9, 6])
        #expect((report.calls, report.sends, report.succeeded) == (20, 30, 15))
        #expect(report.amplification == 1.5)
        #expect(report.completion == 0.75)
        #expect(report.goodput == 7.5)
    }

    @Test("without a call nothing is amplified, and nothing left undone")
    func empty() {
        let report = FleetReport.of("p", begun: [], sends: [], succeeded: [])
        #expect((report.amplification, report.completion, report.goodput) == (0, 1, 0))
        #expect(report.p50 == nil)
        #expect(report.hasRecovered)
    }

    @Test(
        "a percentile is the duration of a call, by nearest rank",
        arguments: [(0, 1), (0.5, 5), (0.51, 6), (0.99, 10), (1, 10), (-1, 1), (7, 10)] as [(Double, Int)]
    )
    func percentile(share: Double, milliseconds: Int) {
        let durations = (1...10).reversed().map { Duration.milliseconds($0) }
        let report = FleetReport.of("p", begun: [10], sends: [10], succeeded: [10], durations: durations)
        #expect(report.percentile(share) == .milliseconds(milliseconds))
    }

    /// How many of a hundred calls of each second succeed, around an outage, and the recovery in milliseconds.
    struct Course: Sendable {
        let kept: [Int]
        let outage: ClosedRange<Int>
        let recovery: Int?
    }

    @Test(
        "recovery is the first second after the outage from which on callers are served",
        arguments: [
            Course(kept: [100, 0, 100, 100], outage: 1000...2000, recovery: 0),
            Course(kept: [100, 0, 0, 95], outage: 1000...2000, recovery: 1000),
            Course(kept: [100, 0, 94, 100], outage: 1000...2000, recovery: 1000),
            Course(kept: [100, 0, 100, 94, 100], outage: 1000...2000, recovery: 2000),
            Course(kept: [100, 0, 100, 94], outage: 1000...2000, recovery: nil),
            Course(kept: [100, 0, 0, 0], outage: 1000...2000, recovery: nil),
            Course(kept: [100, 0, 0, 100], outage: 1000...1500, recovery: 1500),
            Course(kept: [100, 0], outage: 1000...2000, recovery: nil),
        ]
    )
    func recovery(_ course: Course) {
        let report = FleetReport.of(
            "p",
            begun: course.kept.map { _ in 100 },
            sends: course.kept,
            succeeded: course.kept,
            outage: course.outage
        )
        #expect(report.recovery == course.recovery.map { .milliseconds($0) })
        #expect(report.hasRecovered == (course.recovery != nil))
    }

    @Test("a CSV has a line for each second, and names with commas in quotes")
    func csv() {
        let comparison = FleetComparison([
            .of("one, \"two\"", begun: [2], sends: [3], succeeded: [1]),
            .of("three", begun: [2, 1], sends: [2, 1], succeeded: [2, 1]),
        ])
        #expect(
            comparison.csv.split(separator: "\r\n").map(String.init) == [
                "policy,seed,second,begun,sends,succeeded,failed,refused,abandoned,kept",
                "\"one, \"\"two\"\"\",7,0,2,3,1,0,0,0,1",
                "three,7,0,2,2,2,0,0,0,2",
                "three,7,1,1,1,1,0,0,0,1",
            ]
        )
    }

    @Test("a table has a row for each policy, the figures in columns")
    func table() {
        let comparison = FleetComparison([
            .of("none", begun: [100], sends: [100], succeeded: [50], durations: [.milliseconds(20)]),
            .of("immediate", begun: [100, 100], sends: [300, 300], succeeded: [100, 0], outage: 1000...1000),
        ])
        #expect(
            comparison.table == """
                policy     sends per call  goodput  completed    p50    p99  recovery
                none                 1.00     50/s     50.0 %  20 ms  20 ms         –
                immediate            3.00     50/s     50.0 %      –      –     never
                """
        )
    }

    @Test(
        "numbers are rounded, with as many decimals as were asked for",
        arguments: [
            (0, 2, "0.00"), (1.005, 1, "1.0"), (0.96, 1, "1.0"), (12.34, 1, "12.3"), (2.5, 0, "3"),
            (-0.04, 1, "0.0"),
            (-1.25, 2, "-1.25"), (.infinity, 1, "–"), (1e30, 0, "9000000000000000000"),
        ] as [(Double, Int, String)]
    )
    func decimals(number: Double, places: Int, text: String) {
        #expect(number.decimal(places: places) == text)
    }

    @Test("picture and page are well-formed, need nothing from outside, and escape names")
    func pictures() {
        let comparison = FleetComparison([
            .of("<b> & \"c\"", begun: [9, 9], sends: [9, 30], succeeded: [9, 0], outage: 1000...2000),
            .of("empty", begun: [], sends: [], succeeded: []),
        ])
        for text in [comparison.svg, comparison.html(title: "A & B")] {
            #expect(text.contains("&lt;b&gt; &amp; &quot;c&quot;"))
            #expect(text.contains("never recovers"))
            #expect(!text.contains("<b>"))
            #expect(text.replacing("http://www.w3.org/2000/svg", with: "").contains("http") == false)
            #expect(!text.contains("<script") && !text.contains("url(http") && !text.contains("@import"))
        }
        #expect(XMLParser(data: Data(comparison.svg.utf8)).parse())
        #expect(comparison.html(title: "A & B").contains("<title>A &amp; B</title>"))
    }
}

extension FleetReport {
    /// A report of made-up seconds; all calls that succeed do so in the second in which they begin.
    fileprivate static func of(
        _ policy: String,
        begun: [Int],
        sends: [Int],
        succeeded: [Int],
        durations: [Duration] = [],
        outage: ClosedRange<Int>? = nil
    ) -> FleetReport {
        var state = FleetRecorder.State()
        for number in begun.indices {
            var second = FleetSecond(number: number)
            (second.begun, second.sends) = (begun[number], sends[number])
            (second.succeeded, second.kept) = (succeeded[number], succeeded[number])
            state.seconds.append(second)
        }
        state.durations = durations
        return FleetReport(
            policy: policy,
            seed: 7,
            clients: 3,
            load: .even(callsPerSecond: 10, for: .seconds(begun.count)),
            outages: outage.map {
                [
                    FleetOutage(
                        .stalled,
                        from: .milliseconds($0.lowerBound),
                        for: .milliseconds($0.upperBound - $0.lowerBound)
                    )
                ]
            } ?? [],
            recorded: state
        )
    }
}
