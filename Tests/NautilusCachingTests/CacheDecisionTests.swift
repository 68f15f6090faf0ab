import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("CacheDecision: RFC 9111 and RFC 5861, row by row")
struct CacheDecisionTests {
    /// The stored response, the request and the time; the sections say why.
    struct Row: Sendable, CustomTestStringConvertible {
        let section: String
        let stored: HttpHeader
        let request: String
        let status: Int
        let age: Int64
        let decision: CacheDecision

        init(
            _ section: String,
            _ stored: HttpHeader,
            asking request: String = "",
            status: Int = 200,
            at age: Int64,
            _ decision: CacheDecision
        ) {
            (self.section, self.stored, self.request) = (section, stored, request)
            (self.status, self.age, self.decision) = (status, age, decision)
        }

        var testDescription: String { "§\(section) \(stored["Cache-Control"] ?? "") asking “\(request)” at \(age)" }
    }

    private static let tag: HttpHeader = ["ETag": "\"1\""]

    private static func stored(_ control: String, _ more: HttpHeader = tag) -> HttpHeader {
        HttpHeader([.init(name: "Cache-Control", value: control)]).merging(more)
    }

    @Test(
        "a stored response is served, validated or passed over",
        arguments: [
            // Freshness.
            Row("4.2", stored("max-age=60"), at: 0, .serve(age: 0)),
            Row("4.2", stored("max-age=60"), at: 59, .serve(age: 59)),
            Row("4.2", stored("max-age=60"), at: 60, .validate),
            Row("4.2", stored("max-age=60"), at: 61, .validate),
            Row("4.3.1", stored("max-age=60", [:]), at: 60, .forward),
            Row("4.3.1", stored("max-age=60", ["Last-Modified": httpDate(-10)]), at: 60, .validate),
            Row("4.2", stored("max-age=0"), at: 0, .validate),
            // The clock was set back.
            Row("4.2.3", stored("max-age=60"), at: -1, .validate),
            Row("4.2.1", tag.merging(["Expires": httpDate(60)]), at: 59, .serve(age: 59)),
            Row("4.2.1", tag.merging(["Expires": httpDate(60)]), at: 60, .validate),
            Row("5.3", tag.merging(["Expires": "0"]), at: 0, .validate),
            Row("5.3", stored("max-age=60", tag.merging(["Expires": httpDate(-5)])), at: 59, .serve(age: 59)),
            Row("4.2.2", ["Last-Modified": httpDate(-600)], at: 59, .serve(age: 59)),
            Row("4.2.2", ["Last-Modified": httpDate(-600)], at: 60, .validate),
            Row("4.2.2", ["Last-Modified": httpDate(-100 * 86_400)], at: 86_399, .serve(age: 86_399)),
            Row("4.2.2", ["Last-Modified": httpDate(-100 * 86_400)], at: 86_400, .validate),
            // The response's directives.
            Row("5.2.2.4", stored("max-age=60, no-cache"), at: 0, .validate),
            Row("5.2.2.4", stored("max-age=60, no-cache=\"Set-Cookie\""), at: 0, .validate),
            Row("5.2.2.4", stored("max-age=60, no-cache"), asking: "max-stale", at: 0, .validate),
            Row("5.2.2.2", stored("max-age=60, must-revalidate"), at: 59, .serve(age: 59)),
            Row("5.2.2.2", stored("max-age=60, must-revalidate"), asking: "max-stale", at: 60, .validate),
            Row("5.2.2.10", stored("s-maxage=60, max-age=10"), at: 10, .validate),
            // The request's directives.
            Row("5.2.1.4", stored("max-age=60"), asking: "no-cache", at: 0, .validate),
            Row("5.2.1.5", stored("max-age=60"), asking: "no-store", at: 0, .validate),
            Row("5.2.1.1", stored("max-age=60"), asking: "max-age=10", at: 9, .serve(age: 9)),
            Row("5.2.1.1", stored("max-age=60"), asking: "max-age=10", at: 10, .serve(age: 10)),
            Row("5.2.1.1", stored("max-age=60"), asking: "max-age=10", at: 11, .validate),
            Row("5.2.1.1", stored("max-age=60"), asking: "max-age=0", at: 0, .serve(age: 0)),
            Row("5.2.1.1", stored("max-age=60"), asking: "max-age=100", at: 60, .validate),
            Row("5.2.1.3", stored("max-age=60"), asking: "min-fresh=20", at: 39, .serve(age: 39)),
            Row("5.2.1.3", stored("max-age=60"), asking: "min-fresh=20", at: 40, .serve(age: 40)),
            Row("5.2.1.3", stored("max-age=60"), asking: "min-fresh=20", at: 41, .validate),
            Row("5.2.1.3", stored("max-age=60"), asking: "min-fresh=20, max-stale=10", at: 41, .validate),
            Row("5.2.1.3", stored("max-age=60, stale-while-revalidate=30"), asking: "min-fresh=20", at: 41, .validate),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-stale=10", at: 69, .serve(age: 69)),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-stale=10", at: 70, .serve(age: 70)),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-stale=10", at: 71, .validate),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-stale", at: 1_000_000, .serve(age: 1_000_000)),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-age=10, max-stale=5", at: 15, .serve(age: 15)),
            Row("5.2.1.2", stored("max-age=60"), asking: "max-age=10, max-stale=5", at: 16, .validate),
            Row("5.2.1.7", stored("max-age=60"), asking: "only-if-cached", at: 59, .serve(age: 59)),
            Row("5.2.1.7", stored("max-age=60"), asking: "only-if-cached", at: 60, .unavailable),
            Row("5.2.1.7", stored("max-age=60"), asking: "only-if-cached, max-stale", at: 60, .serve(age: 60)),
            Row("5.2.1.7", stored("max-age=60"), asking: "only-if-cached, no-cache", at: 0, .unavailable),
            // Stale while it is being validated, RFC 5861.
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30"), at: 59, .serve(age: 59)),
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30"), at: 60, .serveWhileRevalidating(age: 60)),
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30"), at: 89, .serveWhileRevalidating(age: 89)),
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30"), at: 90, .validate),
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30"), asking: "max-age=70", at: 71, .validate),
            Row("3 of 5861", stored("max-age=60, stale-while-revalidate=30, must-revalidate"), at: 60, .validate),
            Row(
                "3 of 5861",
                stored("max-age=60, stale-while-revalidate=30"),
                asking: "only-if-cached",
                at: 60,
                .serve(age: 60)
            ),
        ]
    )
    func decides(row: Row) {
        let stored = StoredResponse.test(row.stored)
        let freshness = Freshness(stored, now: CacheWorld.start + row.age, heuristicCap: 86_400)
        let control = CacheControl(row.request.isEmpty ? [:] : ["Cache-Control": row.request])
        #expect(CacheDecision(stored: stored, freshness: freshness, request: control) == row.decision)
    }

    @Test("an error stands in for no other error")
    func errorForError() {
        for (status, isAllowed) in [(200, true), (404, true), (500, false), (503, false)] {
            let stored = StoredResponse.test(["Cache-Control": "max-age=60, stale-if-error=30"], status: status)
            let freshness = Freshness(stored, now: CacheWorld.start + 60, heuristicCap: 0)
            let control = CacheControl([:])
            let allows = CacheDecision.allowsStaleIfError(stored, freshness, request: control, standard: 0)
            #expect(allows == isAllowed)
        }
    }

    @Test("a response that is not stored is requested, unless only-if-cached forbids it (RFC 9111 §5.2.1.7)")
    func nothingStored() {
        #expect(CacheDecision(stored: nil, freshness: nil, request: CacheControl([:])) == .forward)
        let onlyStored = CacheControl(["Cache-Control": "only-if-cached, max-stale"])
        #expect(CacheDecision(stored: nil, freshness: nil, request: onlyStored) == .unavailable)
    }

    @Test(
        "a stale response stands in for one that failed for as long as it may (RFC 5861 §4)",
        arguments: [
            ("max-age=60, stale-if-error=30", "", 0, 89, true), ("max-age=60, stale-if-error=30", "", 0, 90, false),
            ("max-age=60", "stale-if-error=30", 0, 89, true), ("max-age=60", "stale-if-error=30", 0, 90, false),
            ("max-age=60, stale-if-error=30", "stale-if-error=0", 0, 60, false),
            ("max-age=60", "", 0, 60, false), ("max-age=60", "", 10, 69, true), ("max-age=60", "", 10, 70, false),
            ("max-age=60, must-revalidate, stale-if-error=30", "", 10, 60, false),
            ("max-age=60, no-cache, stale-if-error=30", "", 10, 0, false),
            ("max-age=60, stale-if-error=30", "no-cache", 10, 0, false),
            // Fresh, and not fresh enough for the request, and not allowed as an answer to it (§5.2.1.1, §5.2.1.3).
            ("max-age=60", "max-age=10", 0, 10, true), ("max-age=60", "max-age=10", 0, 11, false),
            ("max-age=60", "max-age=0", 0, 1, false), ("max-age=60, must-revalidate", "max-age=0", 0, 1, false),
            ("max-age=60", "min-fresh=20", 0, 40, true), ("max-age=60", "min-fresh=20", 0, 41, false),
            // Allowed by the server, by the request or by the cache, whatever else is said of freshness (RFC 5861 §4).
            ("max-age=60, stale-if-error=30", "max-age=0", 0, 1, true), ("max-age=60", "max-age=0", 10, 1, true),
            ("max-age=60, stale-if-error=30", "max-age=0", 0, 90, false),
            ("max-age=60", "max-age=0, stale-if-error=30", 0, 1, true),
            ("max-age=60, must-revalidate", "max-age=0, stale-if-error=30", 0, 1, true),
            ("max-age=60, stale-if-error=30", "max-age=0, stale-if-error=0", 10, 1, false),
        ] as [(String, String, Int64, Int64, Bool)]
    )
    func staleIfError(stored: String, request: String, standard: Int64, age: Int64, isAllowed: Bool) {
        let stored = StoredResponse.test(["Cache-Control": stored])
        let freshness = Freshness(stored, now: CacheWorld.start + age, heuristicCap: 0)
        let control = CacheControl(request.isEmpty ? [:] : ["Cache-Control": request])
        let allows = CacheDecision.allowsStaleIfError(stored, freshness, request: control, standard: standard)
        #expect(allows == isAllowed)
    }
}
