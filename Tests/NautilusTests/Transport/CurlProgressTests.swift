import Testing

@testable import Nautilus

@Suite("An exchange that libcurl carries")
struct CurlProgressTests {
    @Test("may have been executed once it was written, unless each time it was refused")
    func execution() {
        var admissions = CurlAdmissions()
        #expect(!admissions.isAny)
        #expect(!admissions.mayBeExecuted)
        for _ in 1...3 {
            admissions.admit()
            #expect(admissions.isAny)
            #expect(admissions.mayBeExecuted)
            admissions.refuse(isAnswered: false)
            #expect(!admissions.mayBeExecuted)
        }
        #expect(admissions.count == 3)
        // Lost once, and refused after that.
        admissions.admit()
        admissions.admit()
        admissions.refuse(isAnswered: false)
        #expect(admissions.mayBeExecuted)
    }

    @Test("may have been executed if a part of an answer came before the refusal")
    func answered() {
        var admissions = CurlAdmissions()
        admissions.admit()
        admissions.refuse(isAnswered: true)
        #expect(admissions.mayBeExecuted)
    }

    @Test("is refused at most as often as it was written")
    func unasked() {
        var admissions = CurlAdmissions()
        admissions.refuse(isAnswered: false)
        admissions.admit()
        #expect(admissions.mayBeExecuted)
        admissions.refuse(isAnswered: false)
        admissions.refuse(isAnswered: false)
        admissions.admit()
        #expect(admissions.mayBeExecuted)
    }

    @Test("is repeated up to five times")
    func repeats() {
        var admissions = CurlAdmissions()
        for _ in 1...5 {
            admissions.admit()
            #expect(admissions.leavesRepeats)
        }
        admissions.admit()
        #expect(!admissions.leavesRepeats)
    }

    @Test(
        "is overdue when its answer has ended and a part of the request is left, and lacks an end until it has ended",
        arguments: [
            (true, false, false, false, true), (true, true, false, false, true), (true, false, true, true, false),
            (true, true, true, false, false), (false, false, false, false, false), (false, false, true, false, false),
        ] as [(Bool, Bool, Bool, Bool, Bool)]
    )
    func ends(isTraced: Bool, isSent: Bool, isEnded: Bool, isOverdue: Bool, lacksEnd: Bool) {
        let progress = Http2Progress(isTraced: isTraced, isSent: isSent, isEnded: isEnded)
        #expect(progress.isOverdue == isOverdue)
        #expect(progress.lacksEnd == lacksEnd)
    }

    @Test("is one of as many as the server takes, and of no more than the configuration allows")
    func limits() {
        let limits = CurlLimits(connections: 6, streams: 100)
        #expect(
            [nil, 0, 1, 99, 100, 101, .max].map { limits.exchanges(toldOf: $0) } == [100, 0, 1, 99, 100, 100, 100]
        )
    }
}
